// SPDX-License-Identifier: Apache-2.0
//
// RunTogether: the schedules of all ranks in one thread. Which rank goes on next is
// drawn from a seed: what depends on the order of ranks shows, and shows again.
//
//   std::vector<Schedule> schedules;  // of each rank
//   std::vector<Tensor> buffers;
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<Cost> sent,
//                          RunTogether(schedules, buffers, {.seed = 7}));

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/reduction.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {

struct TogetherOptions {
  Reduction reduction = Reduction::kSum;
  uint64_t seed = 0;
  /// A message is sent only once its receiver waits for it, as MPI may do: what relies
  /// on room for messages stands still.
  bool is_synchronous = false;
};

/// What each rank sent. Messages between two ranks keep their order. Failed
/// precondition where ranks stand still, and says for whom each waits; data loss where a
/// message is of another length than its receiver wants, or nobody receives it; invalid
/// argument where there are not as many buffers as schedules, a step names no rank, or
/// as Combine.
Result<std::vector<Cost>> RunTogether(std::span<const Schedule> schedules,
                                      std::span<Tensor> buffers,
                                      const TogetherOptions& options);

}  // namespace assay::ranks
