// SPDX-License-Identifier: Apache-2.0

#include "conformance/node/judge.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "framework/testing/distribution/distribution.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/suite/suite.h"

namespace assay::node {

measure::RecheckPlan PlanRecheck(const record::PlanRow& row, const Graph& graph,
                                 const cases::DataSet& set) {
  measure::RecheckPlan plan{{}, {}, row.deterministic};
  const draw::InputKinds kinds = draw::KindsOf(graph);
  for (const int64_t index : row.sensitive) {
    const auto at = static_cast<size_t>(index);
    if (at >= graph.inputs.size() || at >= set.inputs.size()) continue;
    const auto kind = kinds.at(graph[graph.inputs[at]].name);
    const Tensor* const tensor = set.inputs[at].tensor();
    if (kind == draw::InputKind::kSize && tensor != nullptr) {
      auto other = draw::OtherSizes(*tensor);
      if (!other.has_value()) continue;
      plan.settings.emplace(index, *std::move(other));
    } else if (kind >= draw::InputKind::kSize ||
               kind == draw::InputKind::kShifted) {
      continue;
    }
    plan.sensitive.push_back(index);
  }
  return plan;
}

namespace {

cases::Limit OwnLimit(const record::PlanRow& row) {
  return {row.comparator, row.rtol.value_or(0), row.atol.value_or(0),
          row.limit_source};
}

/// True when zeros in place of every output would be within the limit.
bool AcceptsZeros(const cases::DataSet& set, const cases::Limit& limit) {
  std::vector<Value> zeros;
  for (const Value& want : set.expected) {
    const Tensor* tensor = want.tensor();
    if (tensor == nullptr) return false;
    auto zero = Tensor::Allocate(tensor->dtype(), tensor->shape());
    if (!zero.ok()) return false;
    zeros.emplace_back(*std::move(zero));
  }
  measure::Observation seen;
  return measure::Judge(seen, measure::Measure(zeros, set.expected, {}, limit))
             .outcome == record::Outcome::kPass;
}

distribution::DrawPlan PlanDraws(const record::RunFacts& facts) {
  distribution::DrawPlan plan{.seed = facts.seed};
  if (facts.case_limit_s > 0) {
    const std::chrono::duration<double> half(facts.case_limit_s / 2);
    plan.budget = std::chrono::duration_cast<std::chrono::microseconds>(half);
  }
  return plan;
}

/// The data sets of one case on one backend.
class SetJudge {
 public:
  SetJudge(const record::PlanRow& row, Backend& backend,
           const record::RunFacts& facts, const cases::CaseData& data,
           record::Record* record)
      : row_(row),
        backend_(backend),
        facts_(facts),
        data_(data),
        record_(*record) {}

  measure::Judgement Judge(size_t index) {
    const cases::DataSet& set = data_.sets[index];
    record::ResultRow& result = record_.result;
    std::unique_ptr<Network> network;
    const measure::Observation seen =
        measure::Run(backend_, data_.model, set.inputs, {}, &network);
    *result.load_us += seen.load_us;
    if (seen.stage != measure::Stage::kLoad) {
      result.run_us = result.run_us.value_or(0) + seen.run_us;
    }
    result.placement = seen.placement;
    result.via_function = seen.via_function;
    const int64_t judging = record::SteadyMicroseconds();
    Measured first = MeasureFirst(seen, set);
    result.limit_source = first.limit.source;
    measure::Rechecked again;
    if (first.verdict.outcome == record::Outcome::kPass &&
        first.limit.comparator != record::Comparator::kDistribution) {
      again = measure::Recheck(*network, set, seen, first.limit,
                               PlanRecheck(row_, data_.model->graph(), set));
      first.verdict = std::move(again.verdict);
    }
    AddRows(first, again.distinct_results);
    MeasureOracle(index, seen, first);
    *result.judge_us += record::SteadyMicroseconds() - judging;
    return first.verdict;
  }

 private:
  /// A first run, measured and judged under the limit that decided.
  struct Measured {
    measure::Judgement verdict;
    std::vector<measure::OutputMetrics> metrics;
    cases::Limit limit;
  };
  /// The verdict on a first run that the case's own limit, or one that a line
  /// of the policy loosens it to, lets pass or not.
  Measured MeasureFirst(const measure::Observation& seen,
                        const cases::DataSet& set) const {
    Measured first;
    first.limit = OwnLimit(row_);
    if (seen.status.ok()) {
      first.metrics = measure::Measure(seen.outputs, set.expected,
                                       seen.output_names, first.limit);
    }
    first.verdict = measure::Judge(seen, first.metrics);
    if (first.limit.comparator == record::Comparator::kDistribution &&
        seen.status.ok() &&
        first.verdict.outcome == record::Outcome::kUnsupported) {
      first.verdict =
          distribution::JudgeDraws(backend_, data_.model, set, {}, first.limit,
                                   PlanDraws(facts_), first.metrics);
    }
    // A loosened tolerance is asked only about what the case's own limit
    // failed.
    if (first.verdict.outcome != record::Outcome::kFail ||
        !row_.tolerate_rtol.has_value()) {
      return first;
    }
    Measured loose;
    loose.limit = {first.limit.comparator, *row_.tolerate_rtol,
                   row_.tolerate_atol.value_or(0), row_.tolerate_source};
    loose.metrics = measure::Measure(seen.outputs, set.expected,
                                     seen.output_names, loose.limit);
    loose.verdict = measure::Judge(seen, loose.metrics);
    if (loose.verdict.outcome != record::Outcome::kPass) return first;
    if (AcceptsZeros(set, loose.limit) && !AcceptsZeros(set, first.limit)) {
      loose.verdict = {
          record::Outcome::kSuspect, Reason::kLimit,
          StrCat("the tolerance of ", row_.tolerate_source,
                 " would also take zeros for right: ", first.verdict.message)};
    }
    return loose;
  }

  /// The other two of the three distances, where there are answers. A file that
  /// cannot be read leaves them out: it decides no verdict.
  void MeasureOracle(size_t index, const measure::Observation& seen,
                     const Measured& first) {
    if (row_.oracle.empty() || !seen.status.ok()) return;
    const auto answers =
        measure::ReadAnswers(measure::AnswersFile(row_.oracle, index));
    if (!answers.ok()) return;
    const auto list = answers->find(suite::EvaluationOf(row_).name);
    if (list == answers->end()) return;
    const auto add = [&](std::span<const Value> got, const char* reference) {
      for (const measure::OutputMetrics& m :
           measure::MeasureExact(got, list->second, seen.output_names,
                                 first.limit, reference, first.metrics)) {
        record_.Add(suite::AccuracyRowOf(m));
      }
    };
    add(seen.outputs, "oracle");
    add(data_.sets[index].expected, "expected_oracle");
  }

  void AddRows(const Measured& first, int64_t distinct_results) {
    for (const measure::OutputMetrics& m : first.metrics) {
      record::AccuracyRow row = suite::AccuracyRowOf(m);
      row.distinct_results = distinct_results;
      record_.Add(row);
      // The headroom of random draws is another in each run: see accuracy.
      if (m.headroom.has_value() &&
          m.limit.comparator != record::Comparator::kDistribution) {
        record::Number& least = record_.result.headroom;
        least = std::min(least.value_or(1), *m.headroom);
      }
    }
  }

  const record::PlanRow& row_;
  Backend& backend_;
  const record::RunFacts& facts_;
  const cases::CaseData& data_;
  record::Record& record_;
};

}  // namespace

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts,
                         record::Record* record) {
  const Result<cases::CaseData> data = suite::DataOf(row);
  if (!data.ok()) {
    const bool declined = data.status().code() == StatusCode::kUnsupported;
    return {declined ? record::Outcome::kUnsupported : record::Outcome::kError,
            declined ? data.status().reason() : Reason::kReader,
            data.status().message()};
  }
  record->result.load_us = 0;
  record->result.judge_us = 0;
  SetJudge judge(row, backend, facts, *data, record);
  measure::Judgement verdict;
  for (size_t i = 0; i < data->sets.size(); ++i) {
    verdict = judge.Judge(i);
    if (verdict.outcome == record::Outcome::kPass) continue;
    if (data->sets.size() > 1 && !verdict.message.empty()) {
      verdict.message = StrCat("data set ", i, ": ", verdict.message);
    }
    break;
  }
  return verdict;
}

}  // namespace assay::node
