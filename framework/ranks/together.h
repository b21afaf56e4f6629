// SPDX-License-Identifier: Apache-2.0
//
// RunTogether: runs the schedules of all ranks in one thread. A seed draws
// which rank goes on next, so that a result that depends on the order of ranks
// shows, and can be repeated.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {

struct TogetherOptions {
  Reduction reduction = Reduction::kSum;
  uint64_t seed = 0;
  /// A send completes only once its receiver waits for it, as MPI permits. A
  /// schedule that relies on buffered messages deadlocks.
  bool is_synchronous = false;
};

/// Runs all schedules in place in `buffers`, one for each rank, and returns the
/// cost of each rank. Messages between two ranks keep their order. Failed
/// precondition for a deadlock, with who waits for whom; data loss for a
/// message of another length than its receiver wants, or that nobody receives;
/// invalid argument for another number of buffers than schedules or a step that
/// names no rank; errors of Combine.
Result<std::vector<Cost>> RunTogether(std::span<const Schedule> schedules,
                                      std::span<Tensor> buffers,
                                      const TogetherOptions& options);

}  // namespace assay::ranks
