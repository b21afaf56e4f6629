// SPDX-License-Identifier: Apache-2.0

#include "perf/times/timer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "framework/core/text.h"
#include "framework/testing/host/runs.h"
#include "framework/timing/clock.h"
#include "framework/timing/statistics.h"

namespace assay::times {
namespace {

/// Shares of the budget.
constexpr double kLives = 0.2;
constexpr double kWarm = 0.5;
constexpr double kCold = 0.2;
constexpr double kScenario = 0.25;  // beside it, of each

constexpr int64_t kMostLives = 10;

/// Samples that last longer need no call before them to wake the core up.
constexpr double kLongNs = 1e6;

int64_t Share(double share, int64_t budget_ns) {
  return static_cast<int64_t>(share * static_cast<double>(budget_ns));
}

bool AreTensors(std::span<const Value> values) {
  return std::ranges::all_of(values, [](const Value& value) {
    return value.tensor() != nullptr && value.tensor()->data() != nullptr;
  });
}

/// True where every output has the same shape whatever the inputs are.
bool HasStaticOutputs(const Network& network) {
  return std::ranges::all_of(network.outputs(), [](const ValueInfo& info) {
    return info.type.StaticShape().has_value();
  });
}

std::array<std::chrono::nanoseconds, 4> TimesOf(const host::Life& life) {
  return {life.load, life.create, life.first, life.destroy};
}

std::string Microseconds(double ns) {
  return StrCat(std::round(ns / 10) / 100, " us");
}

}  // namespace

Timer::Timer(FreshInputs fresh, std::vector<Judged> judged, int64_t budget_ns,
             uint64_t seed)
    : fresh_(std::move(fresh)),
      judged_(std::move(judged)),
      budget_ns_(budget_ns),
      numbers_(seed) {}

Status Timer::Bind(Network& network, std::span<const Value> outputs,
                   const Backward* backward) {
  network_ = &network;
  memory_ = judged_[0].inputs;
  n_inputs_ = memory_.size();
  if (backward != nullptr) n_inputs_ -= backward->cotangents[0].size();
  // Sequences and optionals are not filled anew: they are timed as they are.
  is_filled_ = std::ranges::all_of(
      memory_, [](const Value& value) { return value.tensor() != nullptr; });
  if (!is_filled_) judged_.resize(1);
  if (AreTensors(outputs) && HasStaticOutputs(network)) {
    outputs_.assign(outputs.begin(), outputs.end());
  }
  ASSAY_RETURN_IF_ERROR(BindElsewhere());
  return backward == nullptr ? OkStatus() : BindBackward(*backward);
}

Status Timer::BindElsewhere() {
  // The old memory is held meanwhile, so that its place is not taken again.
  ASSAY_ASSIGN_OR_RETURN(const auto memory, CopiesElsewhere(memory_));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, CopiesElsewhere(outputs_));
  return BindTo(memory, outputs);
}

Status Timer::BindBeside(const Timer& other) {
  // One of two backends may declare shapes that the other does not.
  if (outputs_.size() == other.outputs_.size()) {
    return BindTo(other.memory_, other.outputs_);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, CopiesElsewhere(outputs_));
  return BindTo(other.memory_, outputs);
}

Status Timer::BindTo(const std::vector<Value>& memory,
                     const std::vector<Value>& outputs) {
  ASSAY_ASSIGN_OR_RETURN(
      binding_, network_->Bind(std::span(memory).first(n_inputs_), outputs));
  memory_ = memory;
  outputs_ = cleared_ = outputs;
  return binding_ != nullptr ? OkStatus()
                             : Internal("the backend bound nothing");
}

Status Timer::BindBackward(const Backward& backward) {
  Differentiable* const differentiable = network_->differentiable();
  if (differentiable == nullptr) {
    return Internal("Load took gradient targets and offers no Differentiable");
  }
  ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
  ASSAY_RETURN_IF_ERROR(network_->Synchronize());
  std::vector<Value> cotangents(backward.takes.size());
  size_t next = n_inputs_;
  for (size_t i = 0; i < cotangents.size(); ++i) {
    if (backward.takes[i]) cotangents[i] = memory_[next++];
  }
  ASSAY_ASSIGN_OR_RETURN(cleared_, host::CopiesOf(backward.gradients));
  ASSAY_ASSIGN_OR_RETURN(
      gradients_, differentiable->BindBackward(*binding_, cotangents,
                                               backward.targets, cleared_));
  return gradients_ != nullptr ? OkStatus()
                               : Internal("BindBackward bound nothing");
}

Result<std::string> Timer::FirstFault() {
  const std::span first(&judged_[0].inputs, 1);
  ASSAY_RETURN_IF_ERROR(TakeRuns({}, first, 0, &judged_[0]).status());
  return fault_;
}

Result<std::vector<Value>> Timer::CopiesElsewhere(
    std::span<const Value> values) {
  constexpr int64_t kLine = 64;
  constexpr uint64_t kLines = 64;  // of a page
  std::vector<Value> copies;
  std::vector<Tensor> between;
  for (const Value& value : values) {
    const auto skipped = static_cast<int64_t>(numbers_.Below(kLines));
    ASSAY_ASSIGN_OR_RETURN(
        between.emplace_back(),
        Tensor::Allocate(DType::kUint8, {kLine * (skipped + 1)}));
    ASSAY_ASSIGN_OR_RETURN(auto copy, host::CopiesOf({&value, 1}));
    copies.push_back(std::move(copy[0]));
  }
  return copies;
}

Result<std::vector<Phase>> Timer::Lives(const host::LoadedAs& as) {
  const int64_t budget = Share(kLives, budget_ns_);
  const int64_t start = timing::SteadyNow();
  std::vector<host::Life> lives;
  while (std::ssize(lives) < kMostLives) {
    const int64_t before = timing::SteadyNow();
    ASSAY_ASSIGN_OR_RETURN(
        const auto more,
        host::TimeLives(as, *network_, std::span(memory_).first(n_inputs_), 1));
    const int64_t here = timing::SteadyNow() - before;
    for (const host::Life& life : more) {
      const std::array times = TimesOf(life);
      ASSAY_RETURN_IF_ERROR(CheckTimes(times, 1, here));
    }
    lives.insert(lives.end(), more.begin(), more.end());
    if (timing::SteadyNow() - start > budget) break;
  }
  std::vector<Phase> phases = {{"load", "", {}},
                               {"create", "", {}},
                               {"first", "", {}},
                               {"destroy", "", {}}};
  for (const host::Life& life : lives) {
    const std::array times = TimesOf(life);
    for (size_t i = 0; i < phases.size(); ++i) {
      phases[i].samples.ns.push_back(static_cast<double>(times[i].count()));
    }
  }
  const bool is_all = std::ssize(lives) == kMostLives;
  for (Phase& phase : phases) {
    phase.samples.stop_reason =
        is_all ? timing::StopReason::kCount : timing::StopReason::kBudget;
  }
  return phases;
}

Status Timer::CheckTimes(std::span<const std::chrono::nanoseconds> times,
                         int64_t calls, int64_t here_ns) {
  constexpr int64_t kMany = 1024;
  int64_t sum = 0;
  for (const auto time : times) {
    const int64_t ns = time.count();
    sum += std::min(ns, here_ns + 1);  // and no overflow
    if (ns < 0 || (calls >= kMany && ns < calls)) {
      forged_ = StrCat(calls, " calls took ", ns,
                       " ns by the clock of the backend's process");
    }
  }
  if (sum > here_ns) {
    forged_ = StrCat(calls, " calls took ", Microseconds(sum),
                     " at least by the clock of the backend's process, and ",
                     Microseconds(here_ns), " by that of the judge");
  }
  return forged_.empty() ? OkStatus() : FailedPrecondition(forged_);
}

const Judged& Timer::AnyJudged() {
  const size_t known = std::max<size_t>(judged_.size(), 2) - 1;
  return judged_[numbers_.Below(known)];
}

const Judged* Timer::DrawJudged() {
  // Each ask is as likely to be the last that is judged; more are, where that
  // takes no time.
  constexpr uint64_t kOften = 16;
  constexpr double kJudging = 0.1;
  const bool is_last = numbers_.Below(static_cast<uint64_t>(++n_asked_)) == 0;
  const bool is_cheap = judging_ns_ < Share(kJudging, budget_ns_);
  if (!is_last && (!is_cheap || numbers_.Below(kOften) != 0)) return nullptr;
  return &AnyJudged();
}

Result<std::vector<double>> Timer::TakeRuns(
    const Ask& ask, std::span<const std::vector<Value>> runs, int64_t watched,
    const Judged* judged) {
  host::TimedAsk timed;
  timed.samples = std::ssize(runs);
  timed.calls = ask.calls;
  timed.flushed = ask.flushed;
  timed.gradients = gradients_.get();
  if (is_filled_) timed.inputs = {memory_, runs};
  timed.cleared = cleared_;
  timed.watched = watched;
  timed.counted = ask.counted;
  const int64_t start = timing::SteadyNow();
  ASSAY_ASSIGN_OR_RETURN(const host::Timed times,
                         host::TimeRuns(*network_, *binding_, timed));
  const int64_t end = timing::SteadyNow();
  asked_ns_ = static_cast<double>(end - start);
  if (ask.counted) counts_ = times.counts;
  ASSAY_RETURN_IF_ERROR(CheckTimes(times.samples, ask.calls, end - start));
  if (judged != nullptr) {
    ++n_judged_;
    if (fault_.empty()) fault_ = judged->judge(times.watched);
    judging_ns_ += timing::SteadyNow() - end;
  }
  std::vector<double> ns;
  for (const auto time : times.samples) {
    ns.push_back(static_cast<double>(time.count()));
  }
  return ns;
}

Result<double> Timer::Sample(const Ask& ask) {
  const Judged* const judged = ask.may_judge ? DrawJudged() : nullptr;
  std::vector<std::vector<Value>> runs;
  // Now and then twice, so that it is not always every second call that is
  // judged.
  constexpr uint64_t kTwice = 8;
  const bool twice = ask.primed && numbers_.Below(kTwice) == 0;
  for (int i = 0; i < (ask.primed ? 1 : 0) + (twice ? 1 : 0); ++i) {
    ASSAY_ASSIGN_OR_RETURN(runs.emplace_back(), fresh_.Next());
  }
  ASSAY_ASSIGN_OR_RETURN(runs.emplace_back(), fresh_.Next());
  if (judged != nullptr) runs.back() = judged->inputs;
  const int64_t watched = judged == nullptr ? -1 : std::ssize(runs) - 1;
  ASSAY_ASSIGN_OR_RETURN(const auto ns, TakeRuns(ask, runs, watched, judged));
  return ns.back();
}

Result<std::vector<double>> Timer::Singles(int64_t count,
                                           const Judged& judged) {
  std::vector<std::vector<Value>> runs(static_cast<size_t>(count) + 1);
  for (auto& run : runs) {
    ASSAY_ASSIGN_OR_RETURN(run, fresh_.Next());
  }
  const uint64_t watched = 1 + numbers_.Below(static_cast<uint64_t>(count));
  runs[watched] = judged.inputs;
  ASSAY_ASSIGN_OR_RETURN(
      auto ns, TakeRuns({}, runs, static_cast<int64_t>(watched), &judged));
  ns.erase(ns.begin());
  return ns;
}

Result<double> Timer::Time(int64_t calls) {
  ASSAY_ASSIGN_OR_RETURN(
      last_ns_, Sample({.calls = calls, .primed = last_ns_ < kLongNs}));
  return last_ns_;
}

Result<Phase> Timer::Warm() {
  Phase phase = {is_backward() ? "backward" : "warm", "warm", {}};
  const auto sample = [&](int64_t calls) { return Time(calls); };
  timing::Stopping stopping({timing::HalfWidth{}, timing::Stabilised{},
                             timing::Budget{Share(kWarm, budget_ns_)}});
  ASSAY_ASSIGN_OR_RETURN(phase.samples,
                         sampler_.TakeFrom(sample, std::move(stopping)));
  return phase;
}

Result<Phase> Timer::Cold(int64_t bytes) {
  Phase phase = {"cold", "cold", {}};
  const auto sample = [&](int64_t calls) {
    return Sample({.calls = calls, .flushed = bytes});
  };
  timing::Stopping stopping(
      {timing::HalfWidth{}, timing::Budget{Share(kCold, budget_ns_)}});
  ASSAY_ASSIGN_OR_RETURN(phase.samples,
                         sampler_.TakeFrom(sample, std::move(stopping),
                                           {.single = true, .before = {}}));
  return phase;
}

Result<counts::Counts> Timer::CountWarm() {
  constexpr int64_t kCalls = 8;
  ASSAY_RETURN_IF_ERROR(
      Sample({.calls = kCalls, .may_judge = false, .counted = true}).status());
  for (auto* const count : {&counts_.allocations, &counts_.allocated_bytes,
                            &counts_.instructions}) {
    if (count->has_value()) *count = (**count + kCalls - 1) / kCalls;
  }
  return counts_;
}

Result<Phase> Timer::SingleStream() {
  constexpr int64_t kCalls = 8;  // of one question to the host
  Phase phase = {"warm", "single_stream", {}};
  const int64_t end = timing::SteadyNow() + Share(kScenario, budget_ns_);
  do {
    ASSAY_ASSIGN_OR_RETURN(const auto more, Singles(kCalls, AnyJudged()));
    phase.samples.ns.insert(phase.samples.ns.end(), more.begin(), more.end());
    ++phase.samples.warmup_iters;
  } while (timing::SteadyNow() < end);
  return phase;
}

Result<Phase> Timer::Offline(double call_ns) {
  constexpr int kWindows = 10;
  const int64_t share = Share(kScenario, budget_ns_);
  Phase phase = {"warm", "offline", {}};
  const double window_ns = static_cast<double>(share) / kWindows;
  phase.samples.inner_iters =
      std::max<int64_t>(std::llround(window_ns / std::max(call_ns, 1.0)), 1);
  const int64_t end = timing::SteadyNow() + share;
  do {
    ASSAY_ASSIGN_OR_RETURN(const double ns,
                           Sample({.calls = phase.samples.inner_iters}));
    phase.samples.ns.push_back(ns /
                               static_cast<double>(phase.samples.inner_iters));
  } while (timing::SteadyNow() < end);
  return phase;
}

Result<Timer::Both> Timer::Shortest(int64_t calls) {
  constexpr int kTries = 5;
  // Each for itself: a host that is honest now and then is not believed for
  // that.
  Both least = {std::numeric_limits<double>::infinity(),
                std::numeric_limits<double>::infinity()};
  for (int i = 0; i < kTries; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const double there,
                           Sample({.calls = calls, .may_judge = false}));
    least = {std::min(least.here_ns, asked_ns_),
             std::min(least.there_ns, there)};
  }
  return least;
}

Result<Forgery> Timer::ClockFault(double call_ns) {
  // A busy machine delays questions and answers, of many calls as of few: it
  // is asked for more of them then.
  constexpr double kLeastNs = 300'000;
  constexpr double kMostRatio = 1.5;
  constexpr double kSlackNs = 20'000;
  constexpr int kTimes = 7;
  auto calls =
      static_cast<int64_t>(std::ceil(kLeastNs / std::max(call_ns, 1.0)));
  std::string fault, change;
  // Twice, since noise may make one difference of times anything.
  constexpr int kTwice = 2;
  int agrees = 0;
  int differs = 0;
  int is_steady = 0;
  for (int i = 0; i < kTimes && std::min(agrees, is_steady) < kTwice;
       ++i, calls *= 2) {
    ASSAY_ASSIGN_OR_RETURN(const Both once, Shortest(calls));
    ASSAY_ASSIGN_OR_RETURN(const Both twice, Shortest(2 * calls));
    const double here = twice.here_ns - once.here_ns;
    const double there = twice.there_ns - once.there_ns;
    const double said = call_ns * static_cast<double>(calls);
    is_steady += once.there_ns <= 2 * said + kSlackNs ? 1 : 0;
    fault = StrCat(calls, " more calls took ", Microseconds(here),
                   " by the clock of the judge and ", Microseconds(there),
                   " by that of the backend's process");
    change = StrCat(calls, " calls took ", Microseconds(once.there_ns),
                    ", and as many by their own times ", Microseconds(said));
    if (here + kSlackNs < there) continue;  // noise: it cannot be
    ++(here <= kMostRatio * there + kSlackNs ? agrees : differs);
  }
  if (agrees < kTwice) return Forgery{fault, differs < kTwice};
  if (is_steady < kTwice) return Forgery{change, is_steady > 0};
  return Forgery{};
}

Result<std::string> Timer::ReplayFault(double call_ns, int64_t calls) {
  constexpr int kAsks = 8;
  constexpr int64_t kSingles = 4;
  constexpr double kMostRatio = 2;
  constexpr double kSlackNs = 500;
  constexpr int kTimes = 3;
  ASSAY_ASSIGN_OR_RETURN(std::vector<double> singles,
                         Singles(1, judged_.back()));
  if (calls == 1) return std::string();
  double single = 0;
  for (int i = 0; i < kTimes; ++i) {
    for (int ask = 0; ask < kAsks; ++ask) {
      ASSAY_ASSIGN_OR_RETURN(
          const auto more,
          Singles(kSingles, judged_[numbers_.Below(judged_.size())]));
      singles.insert(singles.end(), more.begin(), more.end());
    }
    single = timing::Summarize(std::exchange(singles, {})).median;
    const bool is_slow = single > kMostRatio * call_ns + kSlackNs;
    if (!is_slow || !is_filled_ || !fresh_.is_fresh()) return std::string();
  }
  return StrCat("a call with inputs that were not seen before takes ",
                Microseconds(single), ", one with those of the call before ",
                Microseconds(call_ns));
}

Result<Forgery> Timer::ForgeryOf(double call_ns, int64_t calls) {
  // First what judges the last inputs, which no call has seen.
  ASSAY_ASSIGN_OR_RETURN(std::string fault, ReplayFault(call_ns, calls));
  if (!fault.empty()) return Forgery{std::move(fault)};
  return ClockFault(call_ns);
}

}  // namespace assay::times
