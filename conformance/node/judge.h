// SPDX-License-Identifier: Apache-2.0
//
// Judge: runs a case with a model, inputs and expected outputs, and holds the
// backend's outputs against those.
//
//   record->result.outcome = Judge(row, backend, facts, record).outcome;
//
// A case that passes is run again before it counts (recheck.h); outputs drawn
// at random are judged by their distribution (distribution.h); where there are
// exact answers, distances from these are measured, too. Each output is a row
// of the table accuracy.

#pragma once

#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"

namespace assay::node {

/// It declines a case that the reader does not read yet. Broken files are
/// errors.
measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::node
