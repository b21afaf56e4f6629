// SPDX-License-Identifier: Apache-2.0
//
// Losses: what a rank's steps say of its share of a batch. A share's loss is weighed as its
// gradient is, so that the mean over ranks is the loss of the whole batch.
//
//   Losses mine;
//   ASSAY_ASSIGN_OR_RETURN(const double loss, scheme.Step(objective));
//   mine.Add(loss);

#pragma once

#include <cstdint>
#include <span>

#include "conformance/distributed/ranks/distributed_row.h"

namespace assay::distributed {

/// Of the first step and of the last one.
struct Losses {
  double first = 0, last = 0;
  int64_t steps = 0;

  /// What the next step returned: the loss before it.
  void Add(double loss);
};

constexpr void EachField(Losses& losses, const auto& visit) {
  visit(losses.first);
  visit(losses.last);
  visit(losses.steps);
}

/// Adds the means over all ranks to the row. Nothing where a rank took no step.
void AddLosses(std::span<const Losses> ranks, DistributedRow* row);

}  // namespace assay::distributed
