// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/answer_case.h"

#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/worker/dump_case.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

Result<std::vector<ExactAnswer>> Ask(Exact& exact, const DataSet& set,
                                     Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<ExactValue> values,
                         exact.Evaluate(set.inputs, precision));
  std::vector<ExactAnswer> answers;
  for (ExactValue& value : values) {
    answers.emplace_back(ExactAnswer{std::move(value), {}});
  }
  // They are for the reader; distances are told without them.
  auto units = exact.ConditionUnits(set.inputs);
  for (size_t i = 0; units.ok() && i < units->size(); ++i) {
    if (i < answers.size()) answers[i].units = std::move((*units)[i]);
  }
  return answers;
}

Status AnswerAll(Backend& backend, const PlanRow& row, const RunFacts& facts,
                 ResultRow* result) {
  ASSAY_ASSIGN_OR_RETURN(const CaseData data, CaseInputs(row));
  const int64_t began = SteadyMicroseconds();
  LoadOptions options;
  options.exact = true;
  options.settings = facts.settings;
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
    ASSAY_ASSIGN_OR_RETURN(
        const auto answers,
        Ask(*exact, data.sets[i], OraclePrecision(row.dtypes)));
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

}  // namespace

Record AnswerCase(Backend& backend, const PlanRow& row, const RunFacts& facts) {
  Record record;
  record.result = ResultOf(row, facts);
  record.result.started_us = SteadyMicroseconds() - facts.started_us;
  record.result.worker = std::to_string(getpid());
  Status status;
  try {
    status = AnswerAll(backend, row, facts, &record.result);
  } catch (...) {
    status = StatusOfException("the oracle");
  }
  record.result.outcome = OutcomeOf(status);
  record.result.reason_code = ToString(status.reason());
  record.result.message = status.ok() ? "" : status.message();
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  record.result.peak_rss_kb = usage.ru_maxrss;
  return record;
}

}  // namespace assay::inline v1
