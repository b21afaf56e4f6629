// SPDX-License-Identifier: Apache-2.0
//
// What a case of the suite is about: the model as it is, and inputs that are
// drawn from the test_id and the run's seed. An oracle and a judge make the
// same.
//
//   ASSAY_ASSIGN_OR_RETURN(suite::Subject subject, SubjectOf(row, facts));

#pragma once

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/question.h"

namespace assay::redrawn {

/// What may stand in the place of each input of the case's model. A function's
/// body says nothing of what its inputs are: the node that it stands for has
/// them in the same order, under names of its own.
draw::InputKinds KindsOf(const record::PlanRow& row, const Model& model);

/// Unsupported, reason value, where no element of any input is another than in
/// the case. Files that hold a subject as it is (suite::SubjectInFiles) are
/// taken so.
Result<suite::Subject> SubjectOf(const record::PlanRow& row,
                                 const record::RunFacts& facts);

}  // namespace assay::redrawn
