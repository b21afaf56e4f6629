// SPDX-License-Identifier: Apache-2.0

#include "perf/times/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

#include "perf/times/made_fixture.h"

namespace assay::times {
namespace {

using record::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kLong = 200'000;  // ns
constexpr double kShort = 50'000;

StubBackend Spinning(int64_t ns) {
  return MadeOf([ns](const Bound& bound) {
    Spin(ns);
    Negate(bound);
  });
}

// Kills: a phase that is lost, or is counted twice.
TEST(JudgeTimesTest, EachPhaseHasItsSamples) {
  int loads = 0;
  auto backend = MadeBackend([&] {
    ++loads;
    return Negate;
  });
  const auto times = TimesOf(backend);
  EXPECT_EQ(times.verdict.outcome, Outcome::kPass) << times.verdict.message;
  std::map<std::string, int64_t> samples;
  std::vector<std::string> phases;
  for (const TimeRow& row : Got(times.record.Rows<TimeRow>())) {
    phases.push_back(row.phase);
    samples[row.phase] = row.n_samples;
    EXPECT_GT(row.median_ns.value_or(0), 0) << row.phase;
    EXPECT_LE(row.min_ns, row.median_ns);
    EXPECT_LE(row.median_ns, row.max_ns);
    EXPECT_GT(row.timer_overhead_ns.value_or(0), 0);
    EXPECT_NE(row.stop_reason, "");
  }
  EXPECT_THAT(phases, ElementsAre("load", "create", "first", "destroy", "warm",
                                  "cold"));
  EXPECT_EQ(loads, samples["load"] + 1);
  EXPECT_EQ(samples["load"], samples["destroy"]);
  EXPECT_GT(times.Of("warm").inner_iters, 1);
  EXPECT_GT(times.Of("warm").warmup_iters, 0);
  EXPECT_EQ(times.Of("cold").inner_iters, 1);
  EXPECT_EQ(times.Of("cold").warmup_iters, 0);
  std::map<std::string, int64_t> raw;
  for (const auto& row : Got(times.record.Rows<TimeSamplesRow>())) {
    EXPECT_EQ(row.first, raw[row.phase]);
    std::istringstream numbers(row.ns);
    for (int64_t ns = 0; numbers >> ns;) ++raw[row.phase];
  }
  EXPECT_EQ(raw, samples);
}

// Kills: a scenario of operators, calls in a row for single ones, a percentile
// without its interval, a rate of calls for one of inputs.
TEST(JudgeTimesTest, AWholeModelHasTwoScenarios) {
  auto backend = Spinning(0);
  TimedSubject timed = NegativesOf();
  timed.batch = 16;
  record::Record record;
  const auto verdict =
      JudgeSubject(timed, backend, FactsOf(0.2), 1, {}, &record);
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.message;
  std::map<std::string, TimeRow> rows;
  for (const TimeRow& row : Got(record.Rows<TimeRow>())) {
    rows.insert_or_assign(row.cache_mode, row);
  }
  const TimeRow& stream = rows["single_stream"];
  EXPECT_EQ(stream.phase, "warm");
  EXPECT_EQ(stream.inner_iters, 1);
  EXPECT_EQ(stream.p90_lo_ns.has_value(), stream.n_samples >= 36);
  EXPECT_LE(stream.p90_lo_ns.value_or(0), stream.p90_ns.value());
  EXPECT_GE(stream.p90_hi_ns.value_or(stream.max_ns.value()),
            stream.p90_ns.value());
  const TimeRow& offline = rows["offline"];
  EXPECT_EQ(offline.phase, "warm");
  EXPECT_GT(offline.inner_iters, 1);
  EXPECT_NEAR(offline.model_samples_s.value() * offline.mean_ns.value() / 16e9,
              1, kFiveDigits);
  EXPECT_FALSE(rows["cold"].model_samples_s.has_value());
}

// Kills: times of a sample for those of a call.
TEST(JudgeTimesTest, TimesAreThoseOfACall) {
  auto slow = Spinning(200'000);
  auto fast = Spinning(0);
  const TimeRow of_slow = TimesOf(slow).Of("warm");
  EXPECT_GE(of_slow.median_ns.value(), kLong);
  EXPECT_LT(of_slow.min_ns.value(), 2 * kLong);
  EXPECT_LT(TimesOf(fast).Of("warm").median_ns.value(), kShort);
}

// Kills: a first call that is among the warm ones, a load that is in it.
TEST(JudgeTimesTest, PhasesAreNotMixed) {
  auto first = MadeBackend([] {
    auto calls = std::make_shared<int>(0);
    Spin(2'000'000);
    return [calls](const Bound& bound) {
      if (++*calls == 1) Spin(1'000'000);
      Negate(bound);
    };
  });
  const auto times = TimesOf(first);
  EXPECT_EQ(times.verdict.outcome, Outcome::kPass) << times.verdict.message;
  EXPECT_GE(times.Of("load").min_ns.value(), 2e6);
  EXPECT_GE(times.Of("first").min_ns.value(), 1e6);
  EXPECT_LT(times.Of("first").min_ns.value(), 2e6);
  EXPECT_LT(times.Of("create").min_ns.value(), 1e6);
  EXPECT_LT(times.Of("warm").median_ns.value(), kShort);
}

TEST(JudgeTimesTest, WhatIsWrongAtOnceIsNotTimed) {
  auto wrong = MadeOf([](const Bound& bound) { Fill(bound, 1); });
  const auto times = TimesOf(wrong);
  EXPECT_EQ(times.verdict.outcome, Outcome::kFail);
  EXPECT_TRUE(times.record.rows.empty());
  StubBackend declining(Unsupported(Reason::kOperator, "no Neg"));
  EXPECT_EQ(TimesOf(declining).verdict.outcome, Outcome::kUnsupported);
}

// Kills: operations and bytes of another operator, or of all samples.
TEST(JudgeTimesTest, ACallHasItsOperationsAndBytes) {
  auto fast = Spinning(0);
  const auto times = TimesOf(fast);
  const TimeRow warm = times.Of("warm");
  EXPECT_EQ(warm.bytes, 2 * 4 * kElements);
  EXPECT_NEAR(warm.gb_s.value() * *warm.median_ns / *warm.bytes, 1,
              kFiveDigits);
  EXPECT_FALSE(times.Of("load").bytes.has_value());
}

// Kills: a noisy case whose first times stand, one that is timed for ever, and
// one that was quiet and is called noisy.
TEST(JudgeTimesTest, ANoisyCaseIsTimedTwice) {
  struct Row {
    int noisy_times;
    int wanted_looks;
    bool wanted_noisy;
  };
  for (const auto& [noisy_times, wanted_looks, wanted_noisy] :
       {Row{0, 1, false}, Row{1, 2, false}, Row{2, 2, true}}) {
    auto backend = MadeOf(Negate);
    int looks = 0;
    const Machine machine = {
        .is_noisy = [&, most = noisy_times](const Meanwhile&) {
          return ++looks <= most;
        }};
    times::Times times;
    times.verdict = JudgeSubject(NegativesOf(), backend, FactsOf(0.05), 1,
                                 machine, &times.record);
    EXPECT_EQ(looks, wanted_looks);
    EXPECT_EQ(times.Of("warm").noisy, wanted_noisy);
    EXPECT_EQ(Got(times.record.Rows<TimeRow>()).size(), 6U);
  }
}

// Kills: counts of another phase, of all calls together, or none.
TEST(JudgeTimesTest, AWarmCallHasItsCounts) {
  auto backend = MadeOf(Negate);
  const auto times = TimesOf(backend);
  EXPECT_GT(times.Of("warm").steady_rss_kb.value_or(0), 0);
  EXPECT_FALSE(times.Of("cold").steady_rss_kb.has_value());
}

struct Compared {
  measure::Judgement verdict;
  std::vector<CompareRow> rows;
};

Compared Compare(Backend& base, Backend& candidate) {
  record::Record record;
  auto facts = FactsOf(0.3);
  facts.beside = "stub+base=1";
  Compared compared;
  compared.verdict =
      JudgePair(NegativesOf(), {base, candidate}, facts, 1,
                MadeMachine(/*is_noisy=*/false).is_noisy, &record);
  compared.rows = Got(record.Rows<CompareRow>());
  return compared;
}

// Kills: a ratio upside down, times of the other one.
TEST(JudgePairTest, TheRatioIsTheCandidatesTimeOverTheBases) {
  auto slow = Spinning(200'000);
  auto fast = Spinning(20'000);
  const auto slower = Compare(fast, slow);
  EXPECT_EQ(slower.verdict.outcome, Outcome::kPass) << slower.verdict.message;
  ASSERT_EQ(slower.rows.size(), 1U);
  const CompareRow& row = slower.rows[0];
  EXPECT_GT(row.ratio.value(), 3);
  EXPECT_LT(row.ratio.value(), 30);
  EXPECT_GT(row.candidate_ns.value(), 3 * row.base_ns.value());
  if (row.n_groups >= 6) {  // a busy machine may have no time for them
    EXPECT_LE(row.ci95_lo, row.ratio);
    EXPECT_GE(row.ci95_hi, row.ratio);
    EXPECT_LT(row.p_value.value(), 0.05);
  }
  EXPECT_GE(row.n_blocks, row.n_groups);
  EXPECT_EQ(row.base, "stub+base=1");
  const auto faster = Compare(slow, fast);
  EXPECT_LT(faster.rows.at(0).ratio.value(), 0.4);
  const auto same = Compare(fast, fast);
  EXPECT_GT(same.rows.at(0).ratio.value(), 0.5);
  EXPECT_LT(same.rows.at(0).ratio.value(), 2);
}

// Kills: memory of its own for each side, which may suit one of them, and one
// place for all groups.
TEST(JudgePairTest, BothAreBoundToTheSameMemory) {
  std::array<const void*, 2> last = {};
  std::set<const void*> places;
  int64_t calls = 0;
  int64_t agree = 0;
  const auto noting = [&](size_t side) {
    return MadeOf([&, side](const Bound& bound) {
      Spin(20'000);
      Negate(bound);
      last[side] = bound.x.data();
      places.insert(last[side]);
      ++calls;
      if (last[0] == last[1]) ++agree;
    });
  };
  auto base = noting(0);
  auto candidate = noting(1);
  EXPECT_GT(Compare(base, candidate).rows.at(0).n_groups, 1);
  EXPECT_GT(agree, calls / 2);
  EXPECT_GT(places.size(), 3U);
}

// Kills: a comparison with what does not run; the candidate that is blamed for
// its base; a fast forgery that is better.
TEST(JudgePairTest, WhoIsWrongIsSaid) {
  auto right = Spinning(2'000);
  auto forging = MadeBackend([] {
    auto calls = std::make_shared<int>(0);
    return [calls](const Bound& bound) {
      if (++*calls == 1) Negate(bound);
    };
  });
  auto verdict = Compare(right, forging).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kFail);
  EXPECT_THAT(verdict.message, HasSubstr("in a timed call, found other"));
  verdict = Compare(forging, right).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kUnsupported);
  EXPECT_THAT(verdict.message, HasSubstr("the base stub+base=1: fail: "));
  StubBackend declining(Unsupported(Reason::kOperator, "no Neg"));
  verdict = Compare(right, declining).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kUnsupported);
  EXPECT_EQ(verdict.message, "no Neg");
  verdict = Compare(declining, right).verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kUnsupported);
  EXPECT_THAT(verdict.message,
              HasSubstr("the base stub+base=1: unsupported: no Neg"));
}

TEST(JudgePairTest, OneThatRemembersItsInputsIsSuspect) {
  auto right = Spinning(2'000);
  auto remembering = MadeBackend([] {
    auto last = std::make_shared<std::array<float, kElements>>();
    return [last](const Bound& bound) {
      if (std::memcmp(last->data(), bound.x.data(), sizeof *last) == 0) return;
      Copy(bound.x.data(), last->data());
      Spin(2'000);
      Negate(bound);
    };
  });
  // A busy machine may make samples of so few calls that each is slow.
  constexpr double kFast = 0.4 * 2'000;
  const auto forged = Compare(right, remembering);
  if (forged.rows.at(0).candidate_ns.value() < kFast) {
    EXPECT_EQ(forged.verdict.outcome, Outcome::kSuspect);
  }
  const auto turned = Compare(remembering, right);
  if (turned.rows.at(0).base_ns.value() < kFast) {
    EXPECT_EQ(turned.verdict.outcome, Outcome::kUnsupported);
  }
}

}  // namespace
}  // namespace assay::times
