// SPDX-License-Identifier: Apache-2.0

#include "perf/times/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/times/row.h"
#include "framework/timing/statistics.h"
#include "perf/roofs/efficiency.h"
#include "perf/times/gradient.h"
#include "perf/times/roof_rows.h"
#include "perf/times/sources.h"
#include "perf/times/step.h"
#include "perf/times/subject.h"
#include "perf/times/timer.h"
#include "perf/work/work_of.h"

namespace assay::times {
namespace {

using record::Outcome;

/// Bytes that are written before a call with cold caches: more than most last
/// caches hold.
constexpr int64_t kFlushed = int64_t{64} << 20;

/// The work of a call, and what bounds its time.
struct CaseWork {
  work::ModelWork model;
  std::string type;  // roofs::ComputeTypeOf
};

/// The times of one case on one backend.
class TimedCase {
 public:
  /// `batch` as TimedSubject::batch.
  TimedCase(const record::RunFacts& facts, const CaseWork& work,
            const Machine& machine, int64_t batch, record::Record* record)
      : facts_(facts),
        work_(work),
        machine_(machine),
        batch_(batch),
        record_(*record) {}

  /// Takes all phases, twice where the machine is noisy the first time, and
  /// adds their rows. A failed status where a call failed.
  Result<measure::Judgement> Take(const host::LoadedAs& as, Timer* timer) {
    return Around(/*times=*/2, [&] { return TakePhases(as, timer); });
  }
  /// Takes another phase, once: other ranks may have found no noise.
  Result<measure::Judgement> TakeOne(
      const std::function<Result<Taken>()>& take) {
    return Around(/*times=*/1, [&]() -> Result<measure::Judgement> {
      ASSAY_ASSIGN_OR_RETURN(const Taken taken, take());
      if (!taken.phase.samples.ns.empty()) Add(taken.phase, taken.cost);
      return taken.verdict;
    });
  }

 private:
  Result<measure::Judgement> TakePhases(const host::LoadedAs& as, Timer* timer);
  /// Adds the rows of what is taken, with how quiet the machine was meanwhile;
  /// takes it again, so many times in all, until it was.
  Result<measure::Judgement> Around(int times, const auto& take);
  void Add(const Phase& phase, const timing::ClockCost& clock);
  void AddSamples(const Phase& phase);
  /// The percentiles' intervals, and the rate of a whole model's inputs.
  void AddTails(const std::vector<double>& ns, TimeRow* row) const;

  /// Operations and bytes of a call over its median time.
  void AddRates(TimeRow* row) const;
  void AddEfficiency(TimeRow* row) const;
  void AddToRecord(const machine::Disturbance& disturbance, bool noisy);

  const record::RunFacts& facts_;
  const CaseWork& work_;
  const Machine& machine_;
  const int64_t batch_;
  record::Record& record_;
  std::vector<TimeRow> rows_;
  std::vector<TimeSamplesRow> samples_;
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
  AddTails(phase.samples.ns, &row);
  AddRates(&row);
  row.samples_file = "time_samples.csv.gz";
  rows_.push_back(std::move(row));
  AddSamples(phase);
}

void TimedCase::AddTails(const std::vector<double>& ns, TimeRow* row) const {
  std::vector<double> sorted = ns;
  std::ranges::sort(sorted);
  if (const auto p90 = timing::PercentileInterval(sorted, 0.9)) {
    row->p90_lo_ns = p90->low;
    row->p90_hi_ns = p90->high;
  }
  if (const auto p99 = timing::PercentileInterval(sorted, 0.99)) {
    row->p99_lo_ns = p99->low;
    row->p99_hi_ns = p99->high;
  }
  if (batch_ == 0 || row->phase != "warm" || *row->mean_ns <= 0) return;
  row->model_samples_s = 1e9 * static_cast<double>(batch_) / *row->mean_ns;
}

void TimedCase::AddRates(TimeRow* row) const {
  const bool is_forward = row->phase == "warm" || row->phase == "cold";
  const work::ModelWork& model = work_.model;
  if (!is_forward || !model.unknown.empty() || *row->median_ns <= 0) return;
  const double flops = model.work.flops;
  const double bytes = model.work.bytes();
  row->flops = flops;
  row->bytes = bytes;
  row->gflop_s = flops / *row->median_ns;
  row->gb_s = bytes / *row->median_ns;
  if (bytes > 0) row->intensity = flops / bytes;
}

void TimedCase::AddEfficiency(TimeRow* row) const {
  if (machine_.roofs == nullptr || !row->bytes.has_value()) return;
  auto working_set = static_cast<int64_t>(*row->bytes);
  if (row->cache_mode == "cold") working_set = std::max(working_set, kFlushed);
  const roofs::Efficiency near =
      roofs::EfficiencyOf({.ns = *row->median_ns,
                           .flops = *row->flops,
                           .bytes = *row->bytes,
                           .working_set = working_set,
                           .type = work_.type,
                           .threads = row->threads.value_or(1)},
                          machine_.roofs);
  row->peak_gflop_s = near.peak_gflop_s;
  row->peak_gb_s = near.peak_gb_s;
  row->roof_frac = near.roof_frac;
  row->bound = near.bound;
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
    samples_.push_back(std::move(row));
  }
}

Result<measure::Judgement> TimedCase::TakePhases(const host::LoadedAs& as,
                                                 Timer* timer) {
  ASSAY_ASSIGN_OR_RETURN(const auto lives, timer->Lives(as));
  for (const Phase& life : lives) Add(life, timer->cost());
  ASSAY_ASSIGN_OR_RETURN(const Phase warm, timer->Warm());
  Add(warm, timer->cost());
  ASSAY_ASSIGN_OR_RETURN(const counts::Counts counts, timer->CountWarm());
  rows_.back().instructions = counts.instructions;
  rows_.back().alloc_count = counts.allocations;
  rows_.back().alloc_bytes = counts.allocated_bytes;
  rows_.back().peak_rss_kb = counts.peak_rss_kb;
  rows_.back().steady_rss_kb = counts.steady_rss_kb;
  if (!timer->is_backward()) {
    ASSAY_ASSIGN_OR_RETURN(const Phase cold, timer->Cold(kFlushed));
    Add(cold, timer->cost());
  }
  const double call_ns = timing::Summarize(warm.samples.ns).median;
  if (batch_ > 0) {
    ASSAY_ASSIGN_OR_RETURN(const Phase stream, timer->SingleStream());
    Add(stream, timer->cost());
    ASSAY_ASSIGN_OR_RETURN(const Phase offline, timer->Offline(call_ns));
    Add(offline, timer->cost());
  }
  return CheckHonest(call_ns, warm.samples.inner_iters, machine_.is_noisy,
                     timer);
}

void TimedCase::AddToRecord(const machine::Disturbance& disturbance,
                            bool noisy) {
  const machine::Conditions now = machine::ConditionsOf("/");
  for (TimeRow& row : rows_) {
    row.steal_ticks = disturbance.steal_ticks;
    row.psi_cpu_some_pct = disturbance.psi_cpu_some_pct;
    row.load1 = now.load1;
    row.celsius = now.celsius;
    row.noisy = noisy;
    AddEfficiency(&row);
    record_.Add(row);
  }
  for (const TimeSamplesRow& row : samples_) record_.Add(row);
}

Result<measure::Judgement> TimedCase::Around(int times, const auto& take) {
  for (int time = 1;; ++time) {
    rows_.clear();
    samples_.clear();
    const Meanwhile meanwhile;
    auto verdict = take();
    const machine::Disturbance disturbance = meanwhile.disturbance();
    const bool is_red =
        !verdict.ok() || (verdict->outcome != Outcome::kPass &&
                          verdict->reason.text() != record::kUndecided);
    const bool noisy = machine_.is_noisy(meanwhile);
    if (noisy && !is_red && time < times) continue;
    AddToRecord(disturbance, noisy);
    return verdict;
  }
}

/// The types of what a network takes and gives.
std::vector<DType> TypesOf(const Network& network) {
  std::vector<DType> types;
  for (const auto infos : {network.inputs(), network.outputs()}) {
    for (const ValueInfo& info : infos) types.push_back(info.type.dtype);
  }
  return types;
}

}  // namespace

measure::Judgement JudgeTimes(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts,
                              record::Record* record) {
  if (StepIdOf(row.test_id).has_value()) {
    return JudgeTaken(facts, record,
                      [&] { return TimeSteps(row, backend, facts); });
  }
  const auto timed = GradientIdOf(row.test_id).has_value()
                         ? OpenGradients(row, facts)
                         : OpenSubject(row, facts);
  if (!timed.ok()) return Unopened(timed.status());
  return JudgeSubject(*timed, backend, facts, SeedOf(row, facts),
                      {.roofs = &RoofsHere()}, record);
}

measure::Judgement JudgeTaken(const record::RunFacts& facts,
                              record::Record* record,
                              const std::function<Result<Taken>()>& take) {
  const CaseWork none = {{{}, {"it is no call of a model"}}, ""};
  const auto verdict = TimedCase(facts, none, {}, 0, record).TakeOne(take);
  return verdict.ok() ? *verdict : StoppedBy(verdict.status());
}

measure::Judgement JudgeSubject(const TimedSubject& timed, Backend& backend,
                                const record::RunFacts& facts, uint64_t seed,
                                const Machine& machine,
                                record::Record* record) {
  const Ready ready =
      MakeReady(timed, backend, BudgetOf(facts), seed, &record->result);
  return ready.timer == nullptr
             ? ready.verdict
             : JudgeReady(timed, ready, backend, facts, machine, record);
}

measure::Judgement JudgeReady(const TimedSubject& timed, const Ready& ready,
                              Backend& backend, const record::RunFacts& facts,
                              const Machine& machine, record::Record* record) {
  auto work = work::WorkOf(timed.subject.model, timed.subject.inputs[0]);
  if (!work.ok()) work = work::ModelWork{{}, {work.status().message()}};
  const CaseWork of_case = {*std::move(work),
                            roofs::ComputeTypeOf(TypesOf(*ready.network))};
  const auto verdict =
      TimedCase(facts, of_case, machine, timed.batch, record)
          .Take({backend, timed.subject.model, timed.options()},
                ready.timer.get());
  if (verdict.ok()) return *verdict;
  return FailedIn(verdict.status(), *ready.timer);
}

}  // namespace assay::times
