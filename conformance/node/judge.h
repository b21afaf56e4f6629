// SPDX-License-Identifier: Apache-2.0
//
// Judge: runs a case with a model, inputs and expected outputs, and holds the
// backend's outputs against those.
//
// A case that passes is run again before it counts (recheck.h); outputs drawn
// at random are judged by their distribution (distribution.h); where there are
// exact answers, distances from these are measured, too. Each output is a row
// of the table accuracy.

#pragma once

#include "framework/backend/backend.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::node {

/// The inputs that a pass is run with others of before it is run again.
/// A setting is changed to what it may be, or not at all.
measure::RecheckPlan PlanRecheck(const record::PlanRow& row, const Graph& graph,
                                 const cases::DataSet& set);

/// It declines a case that the reader does not read yet. Broken files are
/// errors.
measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::node
