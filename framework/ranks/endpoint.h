// SPDX-License-Identifier: Apache-2.0
//
// Runs a collective over any Endpoint, in place in a rank's buffer
// (ElementsOf): by its schedule, or by the library's own collective, so that
// both are judged by the same right answer; and, by RunTogether, the schedules
// of all ranks in one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {

/// Combines the bytes that `came` with a part of the tensor, in place. A
/// reduction other than kCompose is commutative but for the bits of a NaN, so
/// that the bits of a result depend on the algorithm's tree alone. In kCompose
/// the tensor's are the first function.
/// Unsupported for a type that the reduction is not defined for; invalid
/// argument for a part that the tensor does not have, and for another number of
/// bytes than the part has.
Status Combine(Reduction reduction, std::span<const std::byte> came, Part part,
               Tensor* tensor);

/// The bytes of a part of the tensor. Errors as of Combine, but for any type of
/// whole bytes.
Result<std::span<std::byte>> BytesOf(Part part, Tensor* tensor);

/// Runs the part of `endpoint`'s rank in place in `buffer` (ElementsOf). Errors
/// as of ScheduleOf, Combine and the endpoint; invalid argument where the
/// endpoint has another number of ranks, or the buffer other elements, than the
/// collective.
Status RunCollective(const Collective& what, Reduction reduction,
                     Endpoint& endpoint, Tensor* buffer);

/// Runs any schedule of the endpoint's rank in place in `buffer`. Errors as of
/// Combine and the endpoint.
Status RunSchedule(const Schedule& schedule, Reduction reduction,
                   Endpoint& endpoint, Tensor* buffer);

/// The parts of a rank's buffer that are input and output of the library's
/// call.
struct OwnParts {
  Part in, out;
};

/// In place where the operation allows it: the two are equal, or one contains
/// the other, but for all-to-all. `algorithm` is ignored.
OwnParts OwnPartsOf(const Collective& what, int rank);

/// The rank's call, whose spans point into `buffer`. Invalid argument where the
/// buffer has other elements than the collective, or its root is no rank.
Result<CollectiveCall> OwnCallOf(const Collective& what, Reduction reduction,
                                 int rank, Tensor* buffer);

/// Runs the call of OwnCallOf. Errors as of OwnCallOf and Endpoint::Collect;
/// invalid argument for another number of ranks than the endpoint's.
Status RunOwn(const Collective& what, Reduction reduction, Endpoint& endpoint,
              Tensor* buffer);

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
