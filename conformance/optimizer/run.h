// SPDX-License-Identifier: Apache-2.0
//
// RunCase: a case of the suite on a backend, beside the judge.
//
//   optdiff::StepRows rows(names, {.every = 100}, &record);
//   const Result<measure::Judgement> verdict =
//       RunCase(step_case, {backend, oracle}, &rows);

#pragma once

#include <cstdint>

#include "conformance/optimizer/case.h"
#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/train/optdiff/step_rows.h"

namespace assay::optimizer {

/// The reason of a free run that leaves its band; those of a step stand in
/// locked_run.h.
inline constexpr char kFailGrowth[] = "fail_growth";

/// Who runs, and who judges.
struct Parties {
  Backend& backend;
  Backend& judge;
};

/// The verdict of a whole run, which ends at the first step beyond a limit. As the
/// backend declines before its first step; an error behind it is one.
Result<measure::Judgement> RunCase(const StepCase& step_case,
                                   const Parties& parties,
                                   optdiff::StepRows* rows);

}  // namespace assay::optimizer
