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

/// The judge is the oracle of the run (RunFacts::oracle), which this process loads:
/// it is no backend that is judged. Rows have the name of the backend that the
/// record's result has.
measure::Judgement Judge(const StepCase& step_case, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::optimizer
