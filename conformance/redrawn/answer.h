// SPDX-License-Identifier: Apache-2.0
//
// What an oracle is asked about a case of the suite, and its answers as a judge
// reads them.
//
//   suite.ask = &QuestionsOf;
//   ASSAY_ASSIGN_OR_RETURN(const auto outputs, ReadAnswers(row, facts));

#pragma once

#include <vector>

#include "framework/core/status.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/question.h"

namespace assay::redrawn {

/// The outputs, with both kinds of units.
std::vector<suite::Question> QuestionsOf(const record::PlanRow& row,
                                         const record::RunFacts& facts);

/// One for each output. Not found where the oracle was not asked, unsupported
/// where it declined; data loss for answers that were lost, or are others.
Result<std::vector<measure::ExactAnswer>> ReadAnswers(
    const record::PlanRow& row, const record::RunFacts& facts);

}  // namespace assay::redrawn
