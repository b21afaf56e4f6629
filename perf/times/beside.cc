// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/testing/times/row.h"
#include "framework/testing/worker/hosted.h"
#include "framework/timing/comparison.h"
#include "framework/timing/pairs.h"
#include "perf/times/judge.h"
#include "perf/times/subject.h"
#include "perf/times/timer.h"

namespace assay::times {
namespace {

using record::Outcome;

/// Both in new processes, which do the same from their start, so that the
/// memory of what is made there lies alike.
struct Started {
  std::unique_ptr<worker::Hosted> base, candidate;
};

Result<Started> StartBoth(const record::RunFacts& facts) {
  const worker::Own& own = worker::OwnOfWorker();
  Started started;
  ASSAY_ASSIGN_OR_RETURN(
      started.candidate,
      worker::Hosted::Start(own.instance, own.module, own.walls));
  ASSAY_ASSIGN_OR_RETURN(
      started.base, worker::Hosted::Start(
                        facts.beside, facts.beside_module.string(), own.walls));
  return started;
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

using Groups = std::vector<std::vector<timing::Block>>;

double MedianOf(const Groups& groups, timing::Side side) {
  std::vector<timing::Block> all;
  for (const auto& blocks : groups) {
    all.insert(all.end(), blocks.begin(), blocks.end());
  }
  return timing::MedianOf(all, side);
}

/// Binds both to the same memory, at another place than before.
Status BindBoth(Timer* first, Timer* second, int64_t calls) {
  ASSAY_RETURN_IF_ERROR(first->BindElsewhere());
  ASSAY_RETURN_IF_ERROR(second->BindBeside(*first));
  for (Timer* const timer : {first, second}) {
    ASSAY_RETURN_IF_ERROR(timer->Time(calls).status());
  }
  return OkStatus();
}

/// Groups of blocks of so many calls.
Result<Groups> TakeGroups(Timer* base, Timer* candidate, int64_t calls,
                          int64_t budget_ns, uint64_t seed) {
  const auto timer_of = [&](timing::Side side) {
    return side == timing::Side::kBase ? base : candidate;
  };
  const auto time_of = [&](timing::Side side) -> Result<double> {
    ASSAY_ASSIGN_OR_RETURN(const double ns, timer_of(side)->Time(calls));
    return ns / static_cast<double>(calls);
  };
  const auto bind = [&](timing::Side first) {
    Timer* const one = timer_of(first);
    return BindBoth(one, one == base ? candidate : base, calls);
  };
  return timing::TakeGroups(bind, time_of, seed, {.budget_ns = budget_ns});
}

/// Times both in turn, which are bound then.
Result<CompareRow> TimeInTurn(Timer* base, Timer* candidate, int64_t budget_ns,
                              uint64_t seed) {
  const Meanwhile meanwhile;
  CompareRow row;
  ASSAY_ASSIGN_OR_RETURN(row.inner_iters, CallsOf(base, candidate));
  ASSAY_ASSIGN_OR_RETURN(
      const Groups groups,
      TakeGroups(base, candidate, row.inner_iters, budget_ns, seed));
  ASSAY_ASSIGN_OR_RETURN(const auto log_ratios, timing::GroupLogRatios(groups));
  const timing::Comparison found = timing::Compare(log_ratios);
  for (const auto& blocks : groups) row.n_blocks += std::ssize(blocks);
  row.n_groups = found.units;
  row.log_ratios = Joined(log_ratios, " ", [](double log_ratio) {
    return record::FieldText(log_ratio);
  });
  row.base_ns = MedianOf(groups, timing::Side::kBase);
  row.candidate_ns = MedianOf(groups, timing::Side::kCandidate);
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
                           const IsNoisy& is_noisy, Timer* timer) {
  const auto verdict = CheckHonest(call_ns.value_or(0), calls, is_noisy, timer);
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
  if (!timed.ok()) return Unopened(timed.status());
  const uint64_t seed = SeedOf(row, facts) + core::StableHash(facts.run_id);
  // First in the worker's own host, whose crashes are the case's.
  const Ready ready =
      MakeReady(*timed, backend, BudgetOf(facts), seed, &record->result);
  if (ready.timer == nullptr) return ready.verdict;
  const auto started = StartBoth(facts);
  if (!started.ok()) return FailedIn(started.status());
  return JudgePair(*timed,
                   {started->base->backend(), started->candidate->backend()},
                   facts, seed, &Meanwhile::noisy, record);
}

measure::Judgement JudgePair(const TimedSubject& timed, const Pair& pair,
                             const record::RunFacts& facts, uint64_t seed,
                             const IsNoisy& is_noisy, record::Record* record) {
  const int64_t budget_ns = BudgetOf(facts);
  const int64_t warm_up_ns = budget_ns / kWarmUp;
  const Ready candidate =
      MakeReady(timed, pair.candidate, warm_up_ns, seed, &record->result);
  if (candidate.timer == nullptr) return candidate.verdict;
  record::ResultRow of_base;
  // Other inputs: the second to have them would find branches foretold.
  const Ready base =
      MakeReady(timed, pair.base, warm_up_ns, core::KeyOf(seed, 1), &of_base);
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
  const measure::Judgement verdict = Checked(
      found->candidate_ns, found->inner_iters, is_noisy, candidate.timer.get());
  if (verdict.outcome != Outcome::kPass) return verdict;
  const measure::Judgement other =
      Checked(found->base_ns, found->inner_iters, is_noisy, base.timer.get());
  return other.outcome == Outcome::kPass ? other : OfTheBase(facts, other);
}

}  // namespace assay::times
