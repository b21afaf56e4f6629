// SPDX-License-Identifier: Apache-2.0

#include "perf/times/judge.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/times/row.h"
#include "framework/timing/statistics.h"
#include "perf/times/subject.h"
#include "perf/times/timer.h"
#include "perf/work/work_of.h"

namespace assay::times {
namespace {

using record::Outcome;

/// Bytes that are written before a call with cold caches: more than a last
/// cache holds.
constexpr int64_t kFlushed = int64_t{64} << 20;

/// The times of one case on one backend.
class TimedCase {
 public:
  TimedCase(const record::RunFacts& facts, const work::ModelWork& work,
            record::Record* record)
      : facts_(facts), work_(work), record_(*record) {}

  /// Takes all phases and adds their rows. A failed status where a call failed.
  Result<measure::Judgement> Take(const host::LoadedAs& as, Timer* timer);

 private:
  Result<measure::Judgement> TakePhases(const host::LoadedAs& as, Timer* timer);
  void Add(const Phase& phase, const timing::ClockCost& clock);
  void AddSamples(const Phase& phase);

  /// Operations and bytes of a call over its median time.
  void AddRates(TimeRow* row) const;

  const record::RunFacts& facts_;
  const work::ModelWork& work_;
  record::Record& record_;
  std::vector<TimeRow> rows_;
};

void TimedCase::Add(const Phase& phase, const timing::ClockCost& clock) {
  const timing::Summary s = timing::Summarize(phase.samples.ns);
  TimeRow row;
  row.phase = phase.name;
  row.cache_mode = phase.cache_mode;
  if (const auto threads = facts_.settings.find("threads");
      threads != facts_.settings.end()) {
    row.threads = file::ParseInt(threads->second);
  }
  row.inner_iters = phase.samples.inner_iters;
  row.n_samples = s.n;
  row.min_ns = s.min;
  row.p25_ns = s.p25;
  row.median_ns = s.median;
  row.p75_ns = s.p75;
  row.p90_ns = s.p90;
  row.p99_ns = s.p99;
  row.max_ns = s.max;
  row.mean_ns = s.mean;
  row.stdev_ns = s.stdev;
  if (s.interval.has_value()) {
    row.ci95_lo_ns = s.interval->low;
    row.ci95_hi_ns = s.interval->high;
  }
  row.n_outlier_mild = s.mild_outliers;
  row.n_outlier_severe = s.severe_outliers;
  row.lag1_autocorr = s.lag1;
  row.stop_reason = timing::ToString(phase.samples.stop_reason);
  row.warmup_iters = phase.samples.warmup_iters;
  row.timer_overhead_ns = clock.read_ns;
  AddRates(&row);
  row.samples_file = "time_samples.csv";
  rows_.push_back(std::move(row));
  AddSamples(phase);
}

void TimedCase::AddRates(TimeRow* row) const {
  const bool is_a_call = !row->cache_mode.empty();
  if (!is_a_call || !work_.unknown.empty() || *row->median_ns <= 0) return;
  const double flops = work_.work.flops;
  const double bytes = work_.work.bytes();
  row->flops = flops;
  row->bytes = bytes;
  row->gflop_s = flops / *row->median_ns;
  row->gb_s = bytes / *row->median_ns;
  if (bytes > 0) row->intensity = flops / bytes;
}

void TimedCase::AddSamples(const Phase& phase) {
  constexpr size_t kMost = 200;  // of a row, whose text may have 4,096 bytes
  const std::vector<double>& ns = phase.samples.ns;
  const auto calls = static_cast<double>(phase.samples.inner_iters);
  for (size_t first = 0; first < ns.size(); first += kMost) {
    const auto part =
        std::span(ns).subspan(first, std::min(kMost, ns.size() - first));
    TimeSamplesRow row;
    row.phase = phase.name;
    row.first = static_cast<int64_t>(first);
    row.ns = Joined(part, " ", [calls](double call) {
      return StrCat(std::llround(call * calls));
    });
    record_.Add(row);
  }
}

Result<measure::Judgement> TimedCase::TakePhases(const host::LoadedAs& as,
                                                 Timer* timer) {
  ASSAY_ASSIGN_OR_RETURN(const auto lives, timer->Lives(as));
  for (const Phase& life : lives) Add(life, timer->cost());
  ASSAY_ASSIGN_OR_RETURN(const Phase warm, timer->Warm());
  Add(warm, timer->cost());
  ASSAY_ASSIGN_OR_RETURN(const Phase cold, timer->Cold(kFlushed));
  Add(cold, timer->cost());
  return CheckHonest(timing::Summarize(warm.samples.ns).median,
                     warm.samples.inner_iters, timer);
}

Result<measure::Judgement> TimedCase::Take(const host::LoadedAs& as,
                                           Timer* timer) {
  const Meanwhile meanwhile;
  auto verdict = TakePhases(as, timer);
  const machine::Disturbance disturbance = meanwhile.disturbance();
  const bool noisy = meanwhile.noisy();
  for (TimeRow& row : rows_) {
    row.steal_ticks = disturbance.steal_ticks;
    row.psi_cpu_some_pct = disturbance.psi_cpu_some_pct;
    row.noisy = noisy;
    record_.Add(row);
  }
  return verdict;
}

}  // namespace

measure::Judgement JudgeTimes(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts,
                              record::Record* record) {
  const auto timed = OpenSubject(row, facts);
  if (!timed.ok()) return StoppedBy(timed.status());
  return JudgeSubject(*timed, backend, facts, SeedOf(row, facts), record);
}

measure::Judgement JudgeSubject(const TimedSubject& timed, Backend& backend,
                                const record::RunFacts& facts, uint64_t seed,
                                record::Record* record) {
  const Ready ready =
      MakeReady(timed, backend, BudgetOf(facts), seed, &record->result);
  if (ready.timer == nullptr) return ready.verdict;
  auto work = work::WorkOf(timed.subject.model, timed.subject.inputs[0]);
  if (!work.ok()) work = work::ModelWork{{}, {work.status().message()}};
  const auto verdict =
      TimedCase(facts, *work, record)
          .Take({backend, timed.subject.model, {}}, ready.timer.get());
  if (verdict.ok()) return *verdict;
  return FailedIn(verdict.status(), *ready.timer);
}

}  // namespace assay::times
