// SPDX-License-Identifier: Apache-2.0
//
// Judge: a planned case of the suite optimizer on a backend.

#pragma once

#include "conformance/optimizer/case.h"
#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::optimizer {

/// The reason of a free run that leaves its band. The reasons of a step are in
/// locked_run.h.
inline constexpr char kFailGrowth[] = "fail_growth";

/// Loads the oracle of the run (RunFacts::oracle) into this process as the
/// judge; the backend that is judged stays in its host.
measure::Judgement Judge(const StepCase& step_case, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::optimizer
