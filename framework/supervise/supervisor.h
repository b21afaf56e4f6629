// SPDX-License-Identifier: Apache-2.0
//
// Supervise: runs the rows of a plan in workers and leaves their journals. It
// loads no backend itself, so nothing a backend does can reach it.
//
// The cases of a backend are dealt to several workers, whose sessions run side
// by side; each has a journal of its own. A case that ends its worker, or runs
// over its time limit, is recorded as crash or timeout, and the rest goes on in
// a new worker.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/core/status.h"
#include "framework/supervise/options.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::supervise {

/// Runs the rows that the journals in the directory have no record of, repeats
/// what ended other than expected, and adds all records to `raw`, the earlier
/// ones too. Cancelled after SIGINT or SIGTERM: the journals then
/// hold what was finished. Failed precondition when a journal that is there is
/// of another plan.
Status Supervise(const plan::Plan& plan, const std::vector<size_t>& rows,
                 const SuperviseOptions& given, verdict::RawRecords* raw);

/// A tenth of the cases, and 32 at least. More repeats say little that a tenth
/// does not, and take as long as the run.
int64_t MostRepeated(int64_t n_cases);

/// Runs again, alone, what ended other than expected, so that a verdict can say
/// whether it always does, only at times, or only after some other case: the
/// unexpected non-passes among the rows that have no repeats yet, at most
/// options.most_repeated of them. `raw` has the first attempts.
///
/// Those of a backend run side by side, each in a process of its own. A case
/// that passes alone each time, or that crashed and alone does not, is run once
/// more after all cases that its worker had run before it. Where that spoils it
/// again, the half that spoils it is halved until one case is left, or a half
/// alone no longer does; so much is done for the first 32 of them only.
Status RepeatUnexpected(const plan::Plan& plan, const std::vector<size_t>& rows,
                        const SuperviseOptions& options,
                        verdict::RawRecords* raw);

}  // namespace assay::supervise
