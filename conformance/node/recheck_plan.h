// SPDX-License-Identifier: Apache-2.0
//
// PlanRecheck: the inputs that a pass is run with others of before it is run again.
//
//   const measure::RecheckPlan plan =
//       PlanRecheck(row, data.model->graph(), data.sets[0]);
//   plan.sensitive;   // the indices of inputs

#pragma once

#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/record/rows.h"

namespace assay::node {

/// A setting is changed to what it may be, or not at all.
measure::RecheckPlan PlanRecheck(const record::PlanRow& row, const Graph& graph,
                                 const cases::DataSet& set);

}  // namespace assay::node
