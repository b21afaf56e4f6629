// SPDX-License-Identifier: Apache-2.0
//
// Judge: runs a backend on inputs drawn for the run, and holds its outputs
// against an oracle's answers: floating-point numbers within the case's
// tolerance or their condition units, whichever is more; copies of inputs,
// integers, booleans and strings exactly.
//
//   suite.run = &Judge;

#pragma once

#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/record/run_facts.h"

namespace assay::redrawn {

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::redrawn
