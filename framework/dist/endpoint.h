// SPDX-License-Identifier: Apache-2.0
//
// Endpoint: what one rank needs of a transport to run schedules.
//
//   Status SumOfAll(Endpoint& mine, const Collective& what, Tensor* buffer) {
//     return RunCollective(what, Reduction::kSum, mine, buffer);
//   }

#pragma once

#include <cstddef>
#include <span>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/dist/collective.h"
#include "framework/dist/reduction.h"
#include "framework/dist/schedule.h"

namespace assay::dist {

inline constexpr int kAnybody = -2;

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends `out` and receives `in`, in any order, and returns when both are done. Either
  /// may be with nobody, and with the rank itself both are. The two do not overlap.
  /// Messages between two ranks keep their order. Data loss for a message of another
  /// length than `in`.
  virtual Status Exchange(int to, std::span<const std::byte> out, int from,
                          std::span<std::byte> in) = 0;
  /// Receives `in` from whoever sends it, and returns from whom it came.
  virtual Result<int> ReceiveAny(std::span<std::byte> in) = 0;
};

/// A rank's part of it, on its buffer. As ScheduleOf, Combine and the endpoint decline;
/// invalid argument where the endpoint has another number of ranks, or the buffer other
/// elements, than the collective.
Status RunCollective(const Collective& what, Reduction reduction,
                     Endpoint& endpoint, Tensor* buffer);

/// Any schedule of the endpoint's rank.
Status RunSchedule(const Schedule& schedule, Reduction reduction,
                   Endpoint& endpoint, Tensor* buffer);

}  // namespace assay::dist
