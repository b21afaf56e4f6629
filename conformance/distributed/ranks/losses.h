// SPDX-License-Identifier: Apache-2.0
//
// Losses: the losses that a rank's steps return. A share's loss is weighed as
// its gradient is, so that the mean over ranks is the loss of the batch.
//
//   Losses mine;
//   ASSAY_ASSIGN_OR_RETURN(const double loss, scheme.Step(objective));
//   mine.Add(loss);

#pragma once

#include <cstdint>
#include <span>

#include "conformance/distributed/ranks/distributed_row.h"

namespace assay::distributed {

/// The losses of the first step and of the last.
struct Losses {
  double first = 0, last = 0;
  int64_t steps = 0;

  /// Adds the loss that the next step returned, which is that before the step.
  void Add(double loss);
};

constexpr void EachField(Losses& losses, const auto& visit) {
  visit(losses.first);
  visit(losses.last);
  visit(losses.steps);
}

/// Adds the means over all ranks to the row; none where a rank took no step.
void AddLosses(std::span<const Losses> ranks, DistributedRow* row);

}  // namespace assay::distributed
