// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/stopping.h"

#include <gtest/gtest.h>

#include <string>

#include "framework/core/text.h"

namespace assay::timing {
namespace {

using Stream = double (*)(int64_t i);

double Constant(int64_t /*i*/) { return 100; }
/// Quartiles 2 % of the median apart, however many there are.
double Turning(int64_t i) { return i % 2 == 0 ? 99 : 101; }
/// The quartiles move apart with the number of samples.
double Growing(int64_t i) {
  const auto step = static_cast<double>(i);
  return 1e6 + (i % 2 == 0 ? step : -step);
}
/// As constant as can be, but for an outlier in each 16.
double Struck(int64_t i) { return i % 16 == 15 ? 1e6 * (1 + i) : Turning(i); }
double Zero(int64_t /*i*/) { return 0; }

/// The reason and the number of samples, each of which takes 10 ns.
std::string StopOf(const std::vector<Criterion>& criteria, Stream stream) {
  Stopping stopping(criteria);
  std::vector<double> samples;
  for (;;) {
    samples.push_back(stream(static_cast<int64_t>(samples.size())));
    const auto n = static_cast<int64_t>(samples.size());
    if (const auto reason = stopping.Ask(samples, 10 * n)) {
      return StrCat(ToString(*reason), " ", n);
    }
  }
}

// Kills: a criterion that is met too early, too late or never, a look at every
// sample, a reason of another criterion, and noise that an outlier undoes.
TEST(Stopping, EndsByTheFirstCriterionThatIsMet) {
  const struct {
    std::string name;
    std::vector<Criterion> criteria;
    Stream stream;
    std::string want;
  } kRows[] = {
      {"known at the first look",
       {HalfWidth{0.005, 0}},
       Constant,
       "half_width 10"},
      {"never known, stable",
       {HalfWidth{0.005, 0}, Stabilised{0.05, 0}},
       Turning,
       "stabilised 64"},
      {"known within 1 %",
       {HalfWidth{0.01, 0}, Stabilised{0.05, 0}},
       Turning,
       "half_width 10"},
      {"stable beside outliers",
       {HalfWidth{0.005, 0}, Stabilised{0.05, 0}},
       Struck,
       "stabilised 64"},
      {"not stable", {Stabilised{0.05, 0}, Count{500}}, Growing, "count 500"},
      {"no median",
       {HalfWidth{0.005, 0}, Stabilised{0.05, 0}, Count{100}},
       Zero,
       "count 100"},
      {"known before its time",
       {HalfWidth{0.005, 201}},
       Constant,
       "half_width 22"},
      {"stable before its time",
       {Stabilised{0.05, 641}},
       Turning,
       "stabilised 72"},
      {"count before the first look",
       {HalfWidth{0.005, 0}, Count{3}},
       Constant,
       "count 3"},
      {"budget", {HalfWidth{0.001, 0}, Budget{155}}, Turning, "budget 16"},
      {"two at once",
       {Count{10}, Budget{100}, HalfWidth{}},
       Constant,
       "count 10"},
      {"two at once, otherwise",
       {Budget{100}, Count{10}},
       Constant,
       "budget 10"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(StopOf(row.criteria, row.stream), row.want) << row.name;
  }
}

// Kills: a look at each sample, which tempts the half-width.
TEST(Stopping, LooksWhereTheNumberHasGrownByAnEighth) {
  // The 100 first keep the interval wide until there are 123; looks are at 114
  // and 128.
  const Stream late = [](int64_t i) {
    return i < 100 ? Turning(i) : Constant(i);
  };
  EXPECT_EQ(StopOf({HalfWidth{0.005, 0}}, late), "half_width 128");
}

// Kills: a budget that is another criterion's, or the greatest.
TEST(Stopping, KnowsItsLeastBudget) {
  EXPECT_EQ(Stopping({HalfWidth{}, Count{5}}).budget_ns(), std::nullopt);
  EXPECT_EQ(Stopping({Budget{7}, Count{5}, Budget{3}}).budget_ns(), 3);
}

}  // namespace
}  // namespace assay::timing
