// SPDX-License-Identifier: Apache-2.0
//
// RunCollective: runs one rank's part of a schedule, over any Endpoint.
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

}  // namespace assay::ranks
