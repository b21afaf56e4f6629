// SPDX-License-Identifier: Apache-2.0
//
// Schedule: a collective as the messages of one rank, in their order. Whoever can send
// and receive runs it; how many messages there are, how long and in which order they
// are combined is known before.
//
//   ASSAY_ASSIGN_OR_RETURN(const Schedule mine, ScheduleOf(what, rank));
//   for (const Step& step : mine) ...

#pragma once

#include <cstdint>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/collective.h"

namespace assay::ranks {

/// Elements of a rank's buffer.
struct Part {
  int64_t begin = 0, count = 0;
};

/// What a rank does at once: a part goes out as it is before the step, and one comes in
/// in its place, or is combined with what is there.
struct Step {
  int to = kNobody;
  Part out;
  int from = kNobody;
  Part in;
  bool combines = false;
};

using Schedule = std::vector<Step>;

/// As Check declines; invalid argument for a rank that is none.
Result<Schedule> ScheduleOf(const Collective& what, int rank);

}  // namespace assay::ranks
