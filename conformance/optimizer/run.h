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

/// The reason of a free run that leaves its band. The reasons of a step are in
/// locked_run.h.
inline constexpr char kFailGrowth[] = "fail_growth";

/// The backend that is judged, and the one that judges.
struct Parties {
  Backend& backend;
  Backend& judge;
};

/// Gives the verdict of a run, which ends at the first step beyond a limit. A
/// failed Status where the backend declines before its first step; an error
/// after it is the verdict `error`.
Result<measure::Judgement> RunCase(const StepCase& step_case,
                                   const Parties& parties,
                                   optdiff::StepRows* rows);

}  // namespace assay::optimizer
