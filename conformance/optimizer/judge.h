// SPDX-License-Identifier: Apache-2.0
//
// Judge: a planned case of the suite optimizer on a backend.
//
//   suite.run = &Judge;

#pragma once

#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"

namespace assay::optimizer {

/// Loads the oracle of the run (RunFacts::oracle) into this process as the
/// judge; the backend that is judged stays in its host.
measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::optimizer
