// SPDX-License-Identifier: Apache-2.0
//
// JudgeProblem: what becomes of a problem on a backend. It is timed as any case
// of the suite, where the machine and the budget allow it; its row of the table
// problems says which. A problem that no oracle takes a part of is timed, and
// undecided.

#pragma once

#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "perf/problems/fate.h"
#include "perf/problems/problem.h"

namespace assay::times {

/// Adds rows of the tables problems, time and time_samples. Undecided, with the
/// reason and the number in the message, where it is too big by memory, or by
/// time: of the least that a call takes, or of its first call.
measure::Judgement JudgeProblem(const problems::Problem& problem,
                                const record::PlanRow& row, Backend& backend,
                                const record::RunFacts& facts,
                                record::Record* record);

/// The same within limits that are known.
measure::Judgement JudgeWithin(const problems::Problem& problem,
                               const record::PlanRow& row, Backend& backend,
                               const record::RunFacts& facts,
                               const problems::Limits& limits,
                               record::Record* record);

}  // namespace assay::times
