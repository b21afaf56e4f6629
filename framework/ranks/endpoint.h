// SPDX-License-Identifier: Apache-2.0
//
// RunCollective: one rank's part of a schedule, over whatever carries its messages.
//
//   Status SumOfAll(Endpoint& mine, const Collective& what, Tensor* buffer) {
//     return RunCollective(what, Reduction::kSum, mine, buffer);
//   }

#pragma once

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/reduction.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {

/// A rank's part of it, on its buffer. As ScheduleOf, Combine and the endpoint decline;
/// invalid argument where the endpoint has another number of ranks, or the buffer other
/// elements, than the collective.
Status RunCollective(const Collective& what, Reduction reduction,
                     Endpoint& endpoint, Tensor* buffer);

/// Any schedule of the endpoint's rank.
Status RunSchedule(const Schedule& schedule, Reduction reduction,
                   Endpoint& endpoint, Tensor* buffer);

}  // namespace assay::ranks
