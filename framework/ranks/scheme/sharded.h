// SPDX-License-Identifier: Apache-2.0
//
// ShardedScheme: each parameter has an owner, the one rank that steps it and
// keeps its state. ScatteredScheme: each rank owns an equal block of all
// elements.

#pragma once

#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// The owner of each parameter: in order of size, the largest first, each goes
/// to the first rank with the fewest elements so far.
std::vector<int> OwnersOf(std::span<const train::Parameter> parameters,
                          int ranks);

/// Reduces gradients to the owners of their parameters, which broadcast these
/// before the next gradient is taken: a parameter server on all ranks, or the
/// first stage of ZeRO with whole parameters (S. Rajbhandari et al., "ZeRO:
/// memory optimizations toward training trillion parameter models", 2020). An
/// optimizer that combines all parameters, as AcceleGrad and clipping by the
/// global norm do, sees the rank's own alone.
class ShardedScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

/// Reduce-scatters gradients: each rank gets the mean of its block of all
/// elements, of the tensors concatenated, and steps it; blocks are all-gathered
/// before the next gradient is taken (ZeRO's first stage as in the paper). The
/// optimizer sees one parameter, the block: one that combines the elements of a
/// tensor, as LAMB does, or all parameters, takes another step than alone.
/// Parameters are of one type.
class ScatteredScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

}  // namespace assay::ranks
