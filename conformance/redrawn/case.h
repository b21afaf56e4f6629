// SPDX-License-Identifier: Apache-2.0
//
// The cases of the suite: those of nodes and models in the run's corpora whose
// inputs can be drawn and whose outputs follow from them. Each is about the
// model as it is, and inputs that are drawn from the test_id and the run's
// seed, of which an oracle and a judge make the same.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"

namespace assay::redrawn {

std::vector<cases::TestCase> RedrawnCases(
    std::span<const cases::Corpus> corpora);

/// Why a case of a node or a model is not among them; empty where it is, and
/// for any other case.
std::string WhyNot(const cases::TestCase& test_case);

/// "node/Relu/test_relu" or "model/simple/test_sign_model", the case that one
/// of the suite is derived from; any other id as it is.
std::string SourceOf(std::string_view test_id);

/// The kinds of values that may replace each input of the case's model. A
/// function's body does not say what its inputs are: the node that it stands
/// for has the same inputs in the same order, under names of its own.
draw::InputKinds KindsOf(const record::PlanRow& row, const Model& model);

/// Unsupported, reason value, where no element of any input is another than in
/// the case. Files that hold a subject as it is (suite::SubjectInFiles) are
/// taken so.
Result<suite::Subject> SubjectOf(const record::PlanRow& row,
                                 const record::RunFacts& facts);

/// The outputs, with both kinds of units.
std::vector<suite::Question> QuestionsOf(const record::PlanRow& row,
                                         const record::RunFacts& facts);

/// One for each output. Not found where the oracle was not asked, unsupported
/// where it declined; data loss for answers that were lost, or are others.
Result<std::vector<measure::ExactAnswer>> ReadAnswers(
    const record::PlanRow& row, const record::RunFacts& facts);

/// The same of a suite that asks by another name, of several data sets.
std::vector<suite::Question> AskedAs(std::string name,
                                     const record::PlanRow& row);
Result<std::vector<measure::ExactAnswer>> ReadNamed(const record::PlanRow& row,
                                                    size_t data_set,
                                                    const std::string& name);

/// The same of a case that states no outputs, at the inputs of its data sets.
std::vector<suite::Question> UnstatedQuestions(const record::PlanRow& row,
                                               const record::RunFacts& facts);
Result<std::vector<measure::ExactAnswer>> ReadUnstated(
    const record::PlanRow& row, size_t data_set);

}  // namespace assay::redrawn
