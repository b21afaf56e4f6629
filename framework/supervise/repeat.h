// SPDX-License-Identifier: Apache-2.0
//
// RepeatUnexpected: runs again, alone, what ended other than expected, so that
// a verdict can say whether it always does, only at times, or only behind some
// other case.
//
//   ASSAY_RETURN_IF_ERROR(RepeatUnexpected(plan, rows, options, &raw));
//   // raw.repeats and INSTANCE.repeats.journal have the attempts
//
// Those of a backend run side by side, each in a process of its own. A case that
// passes alone each time, or that crashed and alone does not, is run once more
// behind all cases that its worker had run before it. Where that spoils it again,
// the half that spoils it is halved until one case is left, or a half alone no
// longer does; so much is done for the first kMostTraced of them only.

#pragma once

#include <cstdint>
#include <vector>

#include "framework/supervise/options.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::supervise {

/// Of so many cases: a tenth of them, and 32 at least. More say little that a
/// tenth does not, and take as long as the run.
int64_t MostRepeated(int64_t n_cases);

/// Cases whose spoiler is looked for at most.
inline constexpr int kMostTraced = 32;

/// Repeats the unexpected non-passes among the rows that have no repeats yet,
/// at most options.most_repeated of them. `raw` has the first attempts.
Status RepeatUnexpected(const plan::Plan& plan, const std::vector<size_t>& rows,
                        const SuperviseOptions& options,
                        verdict::RawRecords* raw);

}  // namespace assay::supervise
