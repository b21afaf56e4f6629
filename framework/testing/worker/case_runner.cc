// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/case_runner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/measure/measure_exact.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/record/csv.h"
#include "framework/testing/suite/suite.h"

namespace assay::inline v1 {
namespace {

int64_t PeakRssKilobytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// The backend as its instance in the run is set: a suite that judges for
/// itself loads with options of its own.
class SetBackend : public Backend {
 public:
  SetBackend(Backend& backend, const std::map<std::string, std::string>& set)
      : backend_(backend), settings_(set) {}

  std::string_view name() const override { return backend_.name(); }
  Result<Probe> Inspect() override { return backend_.Inspect(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    LoadOptions set = options;
    set.settings.insert(settings_.begin(), settings_.end());
    return backend_.Load(std::move(model), set);
  }

 private:
  Backend& backend_;
  const std::map<std::string, std::string>& settings_;
};

Limit OwnLimit(const PlanRow& row) {
  return {row.comparator, row.rtol.value_or(0), row.atol.value_or(0),
          row.limit_source};
}

AccuracyRow RowOf(const OutputMetrics& m, const ResultRow& result) {
  AccuracyRow row;
  static_cast<Key&>(row) = result;
  row.output_index = m.output_index;
  row.output_name = m.output_name;
  row.dtype = m.dtype;
  row.shape = m.shape;
  row.reference = m.reference;
  row.limit_source = m.limit.source;
  row.comparator = m.limit.comparator;
  if (!m.mismatch.empty()) return row;
  row.n_elem = m.n_elem;
  row.nan_mismatch = m.nan_mismatch;
  row.inf_mismatch = m.inf_mismatch;
  row.out_of_limit = m.out_of_limit;
  row.min_diff = m.min_diff;
  row.max_diff = m.max_diff;
  row.max_abs_err = m.max_abs_err;
  row.max_rel_err = m.max_rel_err;
  row.max_ulp = m.max_ulp;
  row.p50_ulp = m.p50_ulp;
  row.p99_ulp = m.p99_ulp;
  row.p999_ulp = m.p999_ulp;
  row.mean_signed_ulp = m.mean_signed_ulp;
  row.share_correctly_rounded = m.share_correctly_rounded;
  row.max_unit_err = m.max_unit_err;
  row.oracle_bound = m.oracle_bound;
  row.rmse = m.rmse;
  row.rel_l2 = m.rel_l2;
  row.cosine = m.cosine;
  if (m.worst_index >= 0) row.worst_index = m.worst_index;
  row.worst_want = m.worst_want;
  row.worst_got = m.worst_got;
  row.atol = m.limit.atol;
  row.rtol = m.limit.rtol;
  if (m.limit.comparator == Comparator::kDistribution) {
    row.reference = "law";
    row.n_draws = m.n_draws;
    row.p_value = m.p_value;
    row.limit = m.p_limit;
  } else if (const auto want = ParseDouble(m.worst_want); want.has_value()) {
    row.limit = m.limit.atol + m.limit.rtol * std::abs(*want);
  }
  row.headroom = m.headroom;
  row.sign_of_zero_mismatch = m.sign_of_zero_mismatch;
  row.bitwise_equal = m.bitwise_equal;
  return row;
}

/// Whether zeros in place of every output would be within the limit.
bool AcceptsZeros(const DataSet& set, const Limit& limit) {
  std::vector<Value> zeros;
  for (const Value& want : set.expected) {
    const Tensor* tensor = want.tensor();
    if (tensor == nullptr) return false;
    auto zero = Tensor::Allocate(tensor->dtype(), tensor->shape());
    if (!zero.ok()) return false;
    zeros.emplace_back(*std::move(zero));
  }
  Observation seen;
  return Judge(seen, Measure(zeros, set.expected, {}, limit)).outcome ==
         Outcome::kPass;
}

void SetVerdict(const Judgement& verdict, ResultRow* result) {
  result->outcome = verdict.outcome;
  result->reason_code = ToString(verdict.reason);
  result->message = verdict.message;
}

}  // namespace

CaseRunner::CaseRunner(Backend& backend, RunFacts facts)
    : backend_(backend),
      facts_(std::move(facts)),
      state_(ProcessState::Capture()) {}

LoadOptions CaseRunner::Settings() const {
  LoadOptions options;
  options.settings = facts_.settings;
  return options;
}

DrawPlan CaseRunner::PlanDraws() const {
  DrawPlan plan{.seed = facts_.seed};
  if (facts_.case_limit_s > 0) {
    plan.budget = std::chrono::microseconds(
        static_cast<int64_t>(facts_.case_limit_s / 2 * 1e6));
  }
  return plan;
}

/// The verdict on a first run that the case's own limit, or one that a line of
/// the policy loosens it to, lets pass or not.
CaseRunner::Measured CaseRunner::MeasureFirst(const PlanRow& row,
                                              const Observation& seen,
                                              const CaseData& data,
                                              const DataSet& set) const {
  Measured first;
  first.limit = OwnLimit(row);
  if (seen.status.ok()) {
    first.metrics =
        Measure(seen.outputs, set.expected, seen.output_names, first.limit);
  }
  first.verdict = Judge(seen, first.metrics);
  if (first.limit.comparator == Comparator::kDistribution && seen.status.ok() &&
      first.verdict.outcome == Outcome::kUnsupported) {
    first.verdict = JudgeDraws(backend_, data.model, set, Settings(),
                               first.limit, PlanDraws(), first.metrics);
  }
  // A loosened tolerance is asked only about what the case's own limit failed.
  if (first.verdict.outcome != Outcome::kFail ||
      !row.tolerate_rtol.has_value()) {
    return first;
  }
  Measured loose;
  loose.limit = {first.limit.comparator, *row.tolerate_rtol,
                 row.tolerate_atol.value_or(0), row.tolerate_source};
  loose.metrics =
      Measure(seen.outputs, set.expected, seen.output_names, loose.limit);
  loose.verdict = Judge(seen, loose.metrics);
  if (loose.verdict.outcome != Outcome::kPass) return first;
  if (AcceptsZeros(set, loose.limit) && !AcceptsZeros(set, first.limit)) {
    loose.verdict = {
        Outcome::kSuspect, Reason::kLimit,
        StrCat("the tolerance of ", row.tolerate_source,
               " would also take zeros for right: ", first.verdict.message)};
  }
  return loose;
}

/// The other two of the three distances, where there are answers. A file that
/// cannot be read leaves them out: it decides no verdict.
void CaseRunner::MeasureOracle(const PlanRow& row, size_t index,
                               const Observation& seen, const DataSet& set,
                               const Limit& limit, Record* record) const {
  if (row.oracle.empty() || !seen.status.ok()) return;
  const auto answers = ReadAnswers(AnswersFile(row.oracle, index));
  if (!answers.ok()) return;
  const auto add = [&](std::span<const Value> got, const char* reference) {
    for (const OutputMetrics& m :
         MeasureExact(got, *answers, seen.output_names, limit, reference)) {
      record->Add(RowOf(m, record->result));
    }
  };
  add(seen.outputs, "oracle");
  add(set.expected, "expected_oracle");
}

void CaseRunner::JudgeSet(const PlanRow& row, const CaseData& data,
                          size_t index, Record* record) {
  const DataSet& set = data.sets[index];
  ResultRow& result = record->result;
  std::unique_ptr<Network> network;
  const Observation seen =
      assay::Run(backend_, data.model, set.inputs, Settings(), &network);
  *result.load_us += seen.load_us;
  if (seen.stage != Stage::kLoad) {
    result.run_us = result.run_us.value_or(0) + seen.run_us;
  }
  result.placement = seen.placement;
  result.via_function = seen.via_function;
  const int64_t judging = SteadyMicroseconds();
  Measured first = MeasureFirst(row, seen, data, set);
  result.limit_source = first.limit.source;
  Rechecked again;
  if (first.verdict.outcome == Outcome::kPass &&
      first.limit.comparator != Comparator::kDistribution) {
    again = Recheck(*network, set, seen, first.limit,
                    {row.sensitive, row.deterministic});
    first.verdict = std::move(again.verdict);
  }
  for (const OutputMetrics& m : first.metrics) {
    AccuracyRow row = RowOf(m, result);
    row.distinct_results = again.distinct_results;
    record->Add(row);
    // Of what is drawn at random it is another in each run: see accuracy.
    if (m.headroom.has_value() &&
        m.limit.comparator != Comparator::kDistribution) {
      result.headroom = std::min(result.headroom.value_or(1), *m.headroom);
    }
  }
  MeasureOracle(row, index, seen, set, first.limit, record);
  SetVerdict(first.verdict, &result);
  *result.judge_us += SteadyMicroseconds() - judging;
}

void CaseRunner::RunSets(const PlanRow& row, const CaseData& data,
                         Record* record) {
  ResultRow& result = record->result;
  result.load_us = 0;
  result.judge_us = 0;
  for (size_t i = 0; i < data.sets.size(); ++i) {
    JudgeSet(row, data, i, record);
    if (result.outcome != Outcome::kPass) {
      if (data.sets.size() > 1 && !result.message.empty()) {
        result.message = StrCat("data set ", i, ": ", result.message);
      }
      return;
    }
  }
}

Record CaseRunner::Run(const PlanRow& row) {
  Record record;
  record.result = ResultOf(row, facts_);
  ResultRow& result = record.result;
  result.started_us = SteadyMicroseconds() - facts_.started_us;
  result.worker = std::to_string(getpid());
  // A case of a suite that was written to files is one of files.
  const Suite* suite = row.directory.empty() ? FindSuite(row.suite) : nullptr;
  if (suite != nullptr && suite->judge != nullptr) {
    SetBackend set(backend_, facts_.settings);
    SetVerdict(suite->judge(row, set), &result);
  } else {
    RunData(row,
            suite != nullptr ? suite->data(row.test_id)
                             : ReadCaseData(row.directory,
                                            static_cast<int>(row.n_data_sets)),
            &record);
  }
  if (const std::string changed = state_.Restore(); !changed.empty()) {
    SetVerdict({Outcome::kError, Reason::kStateChanged,
                StrCat("the backend changed the process' ", changed)},
               &result);
  }
  result.peak_rss_kb = PeakRssKilobytes();
  return record;
}

void CaseRunner::RunData(const PlanRow& row, const Result<CaseData>& data,
                         Record* record) {
  if (!data.ok()) {
    // What the reader does not read yet is declined; broken files are errors.
    const bool declined = data.status().code() == StatusCode::kUnsupported;
    SetVerdict({declined ? Outcome::kUnsupported : Outcome::kError,
                declined ? data.status().reason() : Reason::kReader,
                data.status().message()},
               &record->result);
  } else {
    RunSets(row, *data, record);
  }
}

}  // namespace assay::inline v1
