// SPDX-License-Identifier: Apache-2.0
//
// Schedule: a collective as the messages of one rank, in their order. Any
// transport can run it, and the number, the lengths and the combining order of
// messages are known before it runs.

#pragma once

#include <cstdint>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/collective.h"

namespace assay::ranks {

/// A range of elements of a rank's buffer.
struct Part {
  int64_t begin = 0, count = 0;
};

/// One exchange of a rank: a part goes out as it was before the step, and one
/// comes in, which replaces the elements there or is combined with them.
struct Step {
  int to = kNobody;
  Part out;
  int from = kNobody;
  Part in;
  bool combines = false;
};

using Schedule = std::vector<Step>;

/// The schedule of `rank`. Errors as of Check; invalid argument for a rank that
/// the collective does not have.
Result<Schedule> ScheduleOf(const Collective& what, int rank);

}  // namespace assay::ranks
