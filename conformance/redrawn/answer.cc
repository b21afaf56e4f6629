// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/answer.h"

#include <string>
#include <utility>

#include "framework/core/text.h"
#include "framework/testing/record/outcome.h"

namespace assay::redrawn {
namespace {

using Answers = std::vector<measure::ExactAnswer>;

/// Counts the ways in which inputs were drawn and answers asked for.
constexpr int kForm = 1;

std::string NameOf(const record::PlanRow& row, const record::RunFacts& facts) {
  return StrCat("redrawn/", kForm, " ", row.test_id, " seed ", facts.seed);
}

Result<Answers> Outputs(ExactRun& run, const suite::Subject& subject,
                        const suite::Question& evaluation) {
  ASSAY_ASSIGN_OR_RETURN(Answers answers, evaluation.ask(run, subject));
  auto hard = run.EvaluateUnits(UnitKind::kHard);
  for (size_t i = 0; hard.ok() && i < hard->size(); ++i) {
    if (i < answers.size()) answers[i].hard_units = std::move((*hard)[i]);
  }
  return answers;
}

}  // namespace

std::vector<suite::Question> QuestionsOf(const record::PlanRow& row,
                                         const record::RunFacts& facts) {
  return {
      {NameOf(row, facts), [evaluation = suite::EvaluationOf(row)](
                               ExactRun& run, const suite::Subject& subject) {
         return Outputs(run, subject, evaluation);
       }}};
}

Result<Answers> ReadAnswers(const record::PlanRow& row,
                            const record::RunFacts& facts) {
  ASSAY_RETURN_IF_ERROR(suite::CheckAnswered(row, Reason::kValue));
  ASSAY_ASSIGN_OR_RETURN(
      measure::ExactAnswers lists,
      measure::ReadAnswers(measure::AnswersFile(row.oracle, 0)));
  const auto list = lists.find(NameOf(row, facts));
  if (list != lists.end()) return std::move(list->second);
  return DataLoss(row.oracle, ": found no answers to ", row.test_id);
}

}  // namespace assay::redrawn
