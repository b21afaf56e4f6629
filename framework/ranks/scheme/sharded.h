// SPDX-License-Identifier: Apache-2.0
//
// ShardedScheme: each parameter has one rank that steps it and keeps its state.
// ScatteredScheme: each rank has an equal share of all elements.
//
//   ShardedScheme scheme(mine, std::move(optimizer), {Algorithm::kBinomial});
//   ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());

#pragma once

#include <span>
#include <vector>

#include "framework/core/status.h"
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
class ShardedScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

/// Gradients are reduced and scattered: each rank gets the mean of its block of all elements,
/// one tensor behind the other, steps that block, and all gather the blocks before the next
/// gradient is taken (ZeRO's first stage as the paper has it). The optimizer sees one
/// parameter, the block: one that looks at whole tensors, as LAMB does, or at all of them,
/// takes another step than alone. Parameters are of one type.
class ScatteredScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

}  // namespace assay::ranks
