// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/answers_suite.h"

#include <memory>
#include <utility>

#include "framework/testing/measure/exact_answers.h"

namespace assay::inline v1 {
namespace {

Status AnswerAll(const PlanRow& row, Backend& backend, const RunFacts& facts,
                 ResultRow* result) {
  ASSAY_ASSIGN_OR_RETURN(const CaseData data, InputsOf(row));
  const int64_t began = SteadyMicroseconds();
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Network> network,
                         backend.Load(data.model, options));
  Exact* const exact = network == nullptr ? nullptr : network->exact();
  if (exact == nullptr) {
    return Unsupported(Reason::kNone, backend.name(),
                       " offers no exact evaluation of the model");
  }
  result->load_us = SteadyMicroseconds() - began;
  result->run_us = 0;
  for (size_t i = 0; i < data.sets.size(); ++i) {
    const int64_t asked = SteadyMicroseconds();
    ExactAnswers answers;
    for (const Question& question : QuestionsOf(row, facts)) {
      ASSAY_ASSIGN_OR_RETURN(answers[question.name],
                             question.ask(*exact, data.sets[i]));
    }
    *result->run_us += SteadyMicroseconds() - asked;
    ASSAY_RETURN_IF_ERROR(WriteAnswers(AnswersFile(row.oracle, i), answers));
  }
  return OkStatus();
}

Outcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return Outcome::kPass;
    case StatusCode::kUnsupported:
      return Outcome::kUnsupported;
    case StatusCode::kUnavailable:
      return Outcome::kUnavailable;
    default:
      return Outcome::kError;
  }
}

Judgement RunCase(const PlanRow& row, Backend& backend, const RunFacts& facts,
                  Record* record) {
  const Status status = AnswerAll(row, backend, facts, &record->result);
  return {OutcomeOf(status), status.reason(), status.message()};
}

}  // namespace

Suite AnswersSuite() { return {.name = kAnswersSuite, .run = &RunCase}; }

}  // namespace assay::inline v1
