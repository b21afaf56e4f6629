// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/answers_suite.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::suite {
namespace {

Status AnswerAll(const record::PlanRow& row, Backend& backend,
                 const record::RunFacts& facts, record::ResultRow* result) {
  ASSAY_ASSIGN_OR_RETURN(const Subject subject, SubjectOf(row, facts));
  const int64_t began = record::SteadyMicroseconds();
  LoadOptions options;
  options.exact = true;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Network> network,
                         backend.Load(subject.model, options));
  Exact* const exact = network == nullptr ? nullptr : network->exact();
  if (exact == nullptr) {
    return Unsupported(Reason::kNone, backend.name(),
                       " offers no exact evaluation of the model");
  }
  result->load_us = record::SteadyMicroseconds() - began;
  result->run_us = 0;
  for (size_t i = 0; i < subject.inputs.size(); ++i) {
    const int64_t asked = record::SteadyMicroseconds();
    measure::ExactAnswers answers;
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<ExactRun> run,
                           exact->At(subject.inputs[i], subject.targets));
    for (const Question& question : QuestionsOf(row, facts)) {
      ASSAY_ASSIGN_OR_RETURN(answers[question.name],
                             question.ask(*run, subject));
    }
    *result->run_us += record::SteadyMicroseconds() - asked;
    ASSAY_RETURN_IF_ERROR(
        measure::WriteAnswers(measure::AnswersFile(row.oracle, i), answers));
  }
  return OkStatus();
}

measure::Judgement RunAnswers(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts,
                              record::Record* record) {
  const Status status = AnswerAll(row, backend, facts, &record->result);
  return {OutcomeOf(status), status.reason(), status.message()};
}

}  // namespace

Suite AnswersSuite() {
  return {.name = kAnswersSuite, .run = &RunAnswers, .keeps_memory = false};
}

}  // namespace assay::suite
