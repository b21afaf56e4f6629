// SPDX-License-Identifier: Apache-2.0
//
// ShardedScheme: each parameter has one rank that steps it and keeps its state.
// ScatteredScheme: each rank has an equal share of all elements.
//
//   ShardedScheme scheme(mine, std::move(optimizer), {Algorithm::kBinomial});
//   ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());

#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// The rank of each parameter: from the largest on, each goes to the rank that has the
/// fewest elements so far, and of those to the first.
std::vector<int> OwnersOf(std::span<const train::Parameter> parameters,
                          int ranks);

/// Gradients are averaged at the owners of their parameters, which send these to all before
/// the next gradient is taken: a parameter server on all ranks, or the first stage of ZeRO
/// (S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
/// models", 2020) with whole parameters. An optimizer that looks at all of them together,
/// as AcceleGrad and clipping by the norm of all do, sees the rank's own here.
class ShardedScheme : public Scheme {
 public:
  ShardedScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
                Travel travel)
      : endpoint_(endpoint),
        optimizer_(std::move(optimizer)),
        travel_(travel) {}
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;

 private:
  Endpoint& endpoint_;
  std::unique_ptr<train::Optimizer> optimizer_;  // of the rank's own parameters
  const Travel travel_;
};

/// Gradients are reduced and scattered: each rank gets the mean of its block of all elements,
/// one tensor behind the other, steps that block, and all gather the blocks before the next
/// gradient is taken (ZeRO's first stage as the paper has it). The optimizer sees one
/// parameter, the block: one that looks at whole tensors, as LAMB does, or at all of them,
/// takes another step than alone. Parameters are of one type.
class ScatteredScheme : public Scheme {
 public:
  ScatteredScheme(Endpoint& endpoint,
                  std::unique_ptr<train::Optimizer> optimizer, Travel travel)
      : endpoint_(endpoint),
        optimizer_(std::move(optimizer)),
        travel_(travel) {}
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;

 private:
  Endpoint& endpoint_;
  std::unique_ptr<train::Optimizer> optimizer_;  // of the rank's own block
  const Travel travel_;
};

}  // namespace assay::ranks
