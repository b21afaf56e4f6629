// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/judge.h"

#include <string>
#include <vector>

#include "conformance/redrawn/answer.h"
#include "conformance/redrawn/outputs.h"
#include "conformance/redrawn/subject.h"
#include "framework/core/text.h"
#include "framework/testing/measure/measure_exact.h"
#include "framework/testing/suite/accuracy_row.h"
#include "framework/testing/suite/suite.h"

namespace assay::redrawn {
namespace {

using record::Outcome;

measure::Judgement Stopped(const Status& status) {
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

measure::Judgement Fail(std::string message) {
  return {Outcome::kFail, Reason::kValue, std::move(message)};
}

/// Holds the outputs of a run against the answers.
measure::Judgement JudgeOutputs(
    const Graph& graph, const cases::Limit& limit,
    const measure::Observation& seen,
    const std::vector<measure::ExactAnswer>& answers) {
  if (seen.outputs.size() != answers.size()) {
    return Fail(StrCat("found ", seen.outputs.size(), " outputs, wanted ",
                       answers.size()));
  }
  OutputJudge judge(graph, limit);
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string fault = judge.FaultOf(i, seen.outputs[i], answers[i]);
    if (fault.empty()) continue;
    return Fail(StrCat("at inputs drawn for this run output ",
                       seen.output_names[i], ": ", fault));
  }
  if (judge.known() > 0) return {Outcome::kPass, Reason::kNone, ""};
  return {Outcome::kSuspect, Reason::kValue,
          "the oracle knows no element of the outputs at these inputs"};
}

}  // namespace

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts,
                         record::Record* record) {
  const auto subject = SubjectOf(row, facts);
  if (!subject.ok()) return Stopped(subject.status());
  const auto answers = ReadAnswers(row, facts);
  if (!answers.ok()) return Stopped(answers.status());
  const measure::Observation seen =
      measure::Run(backend, subject->model, subject->inputs[0], {});
  record::ResultRow& result = record->result;
  result.load_us = seen.load_us;
  if (seen.stage != measure::Stage::kLoad) result.run_us = seen.run_us;
  result.placement = seen.placement;
  result.via_function = seen.via_function;
  if (!seen.status.ok()) return measure::Judge(seen, {});
  const int64_t judging = record::SteadyMicroseconds();
  const cases::Limit limit = {row.comparator, row.rtol.value_or(0),
                              row.atol.value_or(0), row.limit_source};
  for (const measure::OutputMetrics& m : measure::MeasureExact(
           seen.outputs, *answers, seen.output_names, limit, "oracle")) {
    record->Add(suite::AccuracyRowOf(m));
  }
  measure::Judgement verdict =
      JudgeOutputs(subject->model->graph(), limit, seen, *answers);
  result.judge_us = record::SteadyMicroseconds() - judging;
  return verdict;
}

}  // namespace assay::redrawn
