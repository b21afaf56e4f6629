// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/testing/times/row.h"
#include "framework/testing/worker/hosted.h"
#include "framework/timing/comparison.h"
#include "framework/timing/pairs.h"
#include "framework/timing/statistics.h"
#include "perf/times/judge.h"
#include "perf/times/subject.h"
#include "perf/times/timer.h"

namespace assay::times {
namespace {

using record::Outcome;

/// The base of all cases of this process, started anew where it has ended.
Result<Backend*> BaseOf(const record::RunFacts& facts) {
  static std::unique_ptr<worker::Hosted> base;
  if (base == nullptr || base->is_gone()) {
    ASSAY_ASSIGN_OR_RETURN(
        base,
        worker::Hosted::Start(facts.beside, facts.beside_module.string()));
  }
  return &base->backend();
}

/// Calls of a sample, as many as the faster of both needs.
Result<int64_t> CallsOf(Timer* base, Timer* candidate) {
  int64_t calls = 1;
  for (Timer* const timer : {base, candidate}) {
    ASSAY_ASSIGN_OR_RETURN(const Phase warm, timer->Warm());
    calls = std::max(calls, warm.samples.inner_iters);
  }
  return calls;
}

double MedianOf(const std::vector<timing::Block>& blocks, timing::Side side) {
  std::vector<double> ns;
  for (const timing::Block& block : blocks) {
    for (size_t i = 0; i < block.ns.size(); ++i) {
      if (block.order[i] == side) ns.push_back(block.ns[i]);
    }
  }
  return timing::Summarize(ns).median;
}

/// Times both in turn, which are warm then.
Result<CompareRow> TimeInTurn(Timer* base, Timer* candidate, int64_t budget_ns,
                              uint64_t seed) {
  constexpr int64_t kMostBlocks = 400;
  const Meanwhile meanwhile;
  CompareRow row;
  ASSAY_ASSIGN_OR_RETURN(row.inner_iters, CallsOf(base, candidate));
  const auto calls = static_cast<double>(row.inner_iters);
  const auto time_of = [&](timing::Side side) -> Result<double> {
    Timer& timer = side == timing::Side::kBase ? *base : *candidate;
    ASSAY_ASSIGN_OR_RETURN(const double ns, timer.Time(row.inner_iters));
    return ns / calls;
  };
  // Criteria that do not look at the ratios, which decide.
  timing::Stopping stopping(
      {timing::Count{kMostBlocks}, timing::Budget{budget_ns}});
  ASSAY_ASSIGN_OR_RETURN(const timing::Pairs pairs,
                         timing::TakePairs(time_of, seed, std::move(stopping)));
  ASSAY_ASSIGN_OR_RETURN(const auto log_ratios,
                         timing::LogRatios(pairs.blocks));
  const timing::Comparison found = timing::Compare(log_ratios);
  row.n_blocks = found.blocks;
  row.base_ns = MedianOf(pairs.blocks, timing::Side::kBase);
  row.candidate_ns = MedianOf(pairs.blocks, timing::Side::kCandidate);
  row.ratio = found.ratio;
  if (found.interval.has_value()) {
    row.ci95_lo = found.interval->low;
    row.ci95_hi = found.interval->high;
  }
  row.p_value = found.p_value;
  row.lag1_autocorr = found.lag1;
  row.noisy = meanwhile.noisy();
  return row;
}

/// A tenth of the budget is for the number of calls.
constexpr int64_t kWarmUp = 10;

measure::Judgement OfTheBase(const record::RunFacts& facts,
                             const measure::Judgement& verdict) {
  return {Outcome::kUnsupported, verdict.reason,
          StrCat("the base ", facts.beside, ": ", verdict.outcome, ": ",
                 verdict.message)};
}

measure::Judgement Checked(const record::Number& call_ns, int64_t calls,
                           Timer* timer) {
  const auto verdict = CheckHonest(call_ns.value_or(0), calls, timer);
  return verdict.ok() ? *verdict : FailedIn(verdict.status(), *timer);
}

}  // namespace

measure::Judgement JudgeBeside(const record::PlanRow& row, Backend& backend,
                               const record::RunFacts& facts,
                               record::Record* record) {
  if (facts.beside.empty()) {
    return {Outcome::kError, Reason::kReader,
            "found no backend beside this one, wanted one: assay compare"};
  }
  const auto timed = OpenSubject(row, facts);
  if (!timed.ok()) return StoppedBy(timed.status());
  const auto base = BaseOf(facts);
  if (!base.ok()) return FailedIn(base.status());
  return JudgePair(*timed, {**base, backend}, facts, SeedOf(row, facts),
                   record);
}

measure::Judgement JudgePair(const TimedSubject& timed, const Pair& pair,
                             const record::RunFacts& facts, uint64_t seed,
                             record::Record* record) {
  const int64_t budget_ns = BudgetOf(facts);
  const int64_t warm_up_ns = budget_ns / kWarmUp;
  const Ready candidate =
      MakeReady(timed, pair.candidate, warm_up_ns, seed, &record->result);
  if (candidate.timer == nullptr) return candidate.verdict;
  record::ResultRow of_base;
  const Ready base = MakeReady(timed, pair.base, warm_up_ns, seed, &of_base);
  if (base.timer == nullptr) return OfTheBase(facts, base.verdict);
  auto found =
      TimeInTurn(base.timer.get(), candidate.timer.get(), budget_ns, seed);
  if (!found.ok()) {
    return base.timer->forged().empty()
               ? FailedIn(found.status(), *candidate.timer)
               : OfTheBase(facts, FailedIn(found.status(), *base.timer));
  }
  found->base = facts.beside;
  record->Add(*found);
  const measure::Judgement verdict =
      Checked(found->candidate_ns, found->inner_iters, candidate.timer.get());
  if (verdict.outcome != Outcome::kPass) return verdict;
  const measure::Judgement other =
      Checked(found->base_ns, found->inner_iters, base.timer.get());
  return other.outcome == Outcome::kPass ? other : OfTheBase(facts, other);
}

}  // namespace assay::times
