// SPDX-License-Identifier: Apache-2.0
//
// Judge: a planned case of the suite optimizer on a backend.
//
//   ASSAY_ASSIGN_OR_RETURN(const StepCase step_case, CaseOf(row, facts));
//   record->result.outcome = Judge(step_case, backend, facts, record).outcome;

#pragma once

#include "conformance/optimizer/case.h"
#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"

namespace assay::optimizer {

/// Loads the oracle of the run (RunFacts::oracle) into this process as the
/// judge; the backend that is judged stays in its host.
measure::Judgement Judge(const StepCase& step_case, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::optimizer
