// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/run/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;

constexpr double kU32 = 0x1p-24;  // the roundoff of float32
constexpr DType kF16 = DType::kFloat16;
constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;

/// An oracle's answer for one element.
struct Said {
  double value = 1, bound = 0, units = 1, hard = 1;
  std::optional<double> low = {}, high = {};
  double tail = 0;
};

Said Valued(double value) { return {.value = value}; }
Said Bounded(double bound) { return {.bound = bound}; }
Said Units(double units) { return {.units = units}; }
Said Deep(double hard) { return {.hard = hard}; }
/// With units of the size of the value.
Said Sized(double value, double hard = 1) {
  return {.value = value, .units = value, .hard = hard};
}
Said Kink(double low, double high) { return {.low = low, .high = high}; }

measure::ExactAnswer AnswerOf(const std::vector<Said>& said) {
  Numbers value, tail, bound, units, hard, low, high;
  bool has_hull = false;
  bool has_tail = false;
  for (const Said& s : said) {
    value.push_back(s.value);
    tail.push_back(s.tail);
    bound.push_back(s.bound);
    units.push_back(s.units);
    hard.push_back(s.hard);
    low.push_back(s.low.value_or(s.value));
    high.push_back(s.high.value_or(s.value));
    has_hull = has_hull || s.low.has_value();
    has_tail = has_tail || s.tail != 0;
  }
  measure::ExactAnswer answer;
  answer.value = Rounded(kF64, value);
  answer.bound = Rounded(kF64, bound);
  answer.units = Rounded(kF64, units);
  answer.hard_units = Rounded(kF64, hard);
  if (has_tail) answer.tail = Rounded(kF64, tail);
  if (has_hull) answer.hull = {Rounded(kF64, low), Rounded(kF64, high)};
  return answer;
}

Compared One(double got, const Said& said, const Yardstick& yardstick = {}) {
  return Compare(Rounded(yardstick.type, {got}), AnswerOf({said}), yardstick);
}

/// "beyond", "nan", "unknown", "refused", "kink", "infinite", those that were
/// counted; empty for an element that is right.
std::string Words(const Compared& found) {
  std::string words = found.mismatch;
  const auto add = [&](int64_t count, const char* word) {
    if (count > 0) words += StrCat(words.empty() ? "" : " ", word);
  };
  add(found.beyond, "beyond");
  add(found.nan_mismatch, "nan");
  add(found.unknown, "unknown");
  add(found.refused, "refused");
  add(found.kinks, "kink");
  add(found.non_finite, "infinite");
  return words;
}

struct Row {
  const char* defect;  // of the judge, that the row kills
  double got;
  Said said;
  const char* words;
  Yardstick yardstick = {};
};

const Yardstick kHalf = {.type = kF16};

void ExpectWords(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(Words(One(row.got, row.said, row.yardstick)), row.words)
        << row.defect;
  }
}

TEST(Compare, JudgesAnElementByItsLimitAndBound) {
  const Said with_tail = {.units = 0x1p-40, .tail = 0x1p-50};
  const Yardstick in_double = {.type = kF64};
  ExpectWords({
      {"another number than the exact one is wrong", 1 + 4 * kU32, {}, ""},
      {"a limit that is loosened", 1 + 8 * kU32, {}, "beyond"},
      {"a limit on one side", 1 - 8 * kU32, {}, "beyond"},
      {"the depth of rounding is not counted", 1 + 20 * kU32, Deep(100), ""},
      {"the depth counts as a factor", 1 + 60 * kU32, Deep(100), "beyond"},
      {"units are not those of the element", 1 + 20 * kU32, Units(10), ""},
      {"roundoff is that of float32", 1 + 0x1p-10, {}, "", kHalf},
      {"halves are not judged", 1 + 0x1p-8, {}, "beyond", kHalf},
      {"the oracle's bound is not allowed", 1 + 0x1p-10, Bounded(0x1p-10),
       "refused"},
      {"a bound hides what is beyond it", 1 + 0x1p-9, Bounded(0x1p-10),
       "beyond refused"},
      {"a bound below an eighth of the limit is refused", 1,
       Bounded(0.7 * kU32), ""},
      {"a bound above an eighth is taken", 1, Bounded(0.8 * kU32), "refused"},
      {"the tail is left out", 1, with_tail, "beyond", in_double},
      {"what underflows is wrong", 0, Sized(0x1p-149, 0x1p-149), ""},
      {"anything small is right", 0, Sized(0x1p-140, 0x1p-140), "beyond"},
      {"a zero must have units", 0, Sized(0), ""},
      {"something for nothing", 1e-30, Sized(0), "beyond"},
  });
}

TEST(Compare, JudgesNaNAndInfinity) {
  ExpectWords({
      {"NaN is within every limit", kNan, {}, "beyond nan"},
      {"NaN is within a limit that is wide", kNan, Units(1e30), "beyond nan"},
      {"infinity is a great number", kInf, {}, "beyond nan"},
      {"a derivative without a value wants one", 3, Valued(kNan), "infinite"},
      {"NaN is not NaN", kNan, Valued(kNan), "infinite"},
      {"an infinite derivative is not met", -kInf, Valued(-kInf), "infinite"},
      {"any infinity will do", kInf, Valued(-kInf), "beyond nan infinite"},
      {"any number is infinite", 1e30, Valued(kInf), "beyond infinite"},
      {"NaN is infinite", kNan, Valued(kInf), "beyond nan infinite"},
  });
}

// Beyond the greatest half, 65504.
TEST(Compare, AHalfMayOverflow) {
  ExpectWords({
      {"a number that a half has not must be met", kInf, Sized(70000), "",
       kHalf},
      {"within its limit of the greatest", kInf, Sized(65500), "", kHalf},
      {"any number may be infinite", kInf, Sized(60000), "beyond nan", kHalf},
      {"infinity of another sign", -kInf, Sized(70000), "beyond nan", kHalf},
      {"a number that is far from what overflows", 30000, Sized(70000),
       "beyond", kHalf},
      {"float32 overflows as a half", kInf, Sized(70000), "beyond nan"},
  });
}

TEST(Compare, WhatTheOracleDoesNotKnowIsCountedAndNotJudged) {
  ExpectWords({
      {"an infinite bound allows nothing", 5, Bounded(kInf), "unknown"},
      {"an infinite limit is judged", 5, Units(kInf), "unknown"},
      {"NaN is beyond what is not known", kNan, Bounded(kInf), "unknown"},
      {"a bound that is no number", 5, Bounded(kNan), "unknown"},
  });
}

TEST(Compare, AtAKinkWhateverLiesInTheHullIsRight) {
  const Said kink = {.value = 1, .low = 0, .high = 2};
  const Said open = {.value = 1, .low = -kInf, .high = 2};
  Said open_and_unknown = open;
  open_and_unknown.bound = kInf;
  const Said no_units = {.units = kInf, .low = 0, .high = 2};
  ExpectWords({
      {"the lower end", 0, kink, "kink"},
      {"the upper end", 2, kink, "kink"},
      {"something between", 0.7, kink, "kink"},
      {"above it", 2.01, kink, "beyond kink"},
      {"below it", -0.01, kink, "beyond kink"},
      {"no slack at the ends", 2 + 2 * kU32, kink, "kink"},
      {"NaN at a kink", kNan, kink, "beyond nan kink"},
      {"a hull that is unknown is judged", 99, open_and_unknown,
       "unknown kink"},
      {"a value that is known is not judged", 1, open, ""},
      {"a value that is known may be anything", 2, open, "beyond"},
      {"a hull without width is a kink", 1, Kink(1, 1), ""},
      {"units that are unknown forbid the hull's ends", 2, no_units, "kink"},
  });
}

TEST(Compare, IntegersOfClassExactAreEqual) {
  const Said great_sum = {.value = 6, .units = 0x1p20};
  const Said rounded = {.value = 6, .bound = 1e-12, .units = 6};
  const Yardstick exact = {.type = kF32, .exact = true};
  ExpectWords({
      {"rounding is allowed to what is exact", 6 + 8 * kU32, Sized(6), "beyond",
       exact},
      {"the integer itself", 6, Sized(6), "", exact},
      {"a sixteenth is not exact", 0.0625 + kU32, Valued(0.0625), "beyond",
       exact},
      {"a number of more digits is exact", 0.3, Valued(0.3), "", exact},
      {"sums that no type holds are exact", 6 + 8 * kU32, great_sum, "", exact},
      {"what the oracle rounds is exact", 6 + 8 * kU32, rounded, "", exact},
      {"every class is exact", 6 + 8 * kU32, Sized(6), ""},
  });
}

// Kills: a claim of float32 that leaves the limit of a half as it was, or takes
// the last rounding away; sums that float32 holds, and halves that it does not.
TEST(Compare, AnAccumulatorOfMoreDigitsNarrowsTheLimit) {
  constexpr double kU16 = 0x1p-11;
  const Yardstick wide = {.type = kF16, .accumulator = kF32};
  const Yardstick exact = {.type = kF16, .exact = true};
  Yardstick both = wide;
  both.exact = true;
  const Said deep = Deep(100);  // 42 and 2 roundoffs
  const Said sum = {.value = 6, .units = 2048, .hard = 2048};
  const Said beyond_halves = {.value = 2049.0625, .units = 2050};
  const Said open = {.units = 0x1p-4, .hard = 0x1p-4, .low = 0, .high = 1};
  ExpectWords({
      {"a deep sum of halves is wrong", 1 + 40 * kU16, deep, "", kHalf},
      {"a claim that is not heard", 1 + 4 * kU16, deep, "beyond", wide},
      {"no last rounding", 1 + 2 * kU16, deep, "", wide},
      {"a claim that loosens", 1 + 44 * kU16, deep, "beyond", kHalf},
      {"a sum that halves round is exact", 6 + 8 * kU16, sum, "", exact},
      {"a sum in float32 is rounded", 6 + 8 * kU16, sum, "beyond", both},
      {"a result that no half has is exact", 2049, beyond_halves, "", both},
      {"slack at a kink is that of halves", -0.3 * kU16, open, "kink", kHalf},
      {"a kink does not hear the claim", -0.3 * kU16, open, "beyond kink",
       wide},
  });
  EXPECT_NEAR(One(1 + 2 * kU16, deep, wide).worst.hard_limit,
              100 * kU32 + 2 * kU16 + 40 * kU32, 1e-5);
}

// Kills: a zero that is certain among what tells of a gradient, an element that
// nobody judged, and one that is told apart by its value at a kink.
TEST(Compare, CountsWhatTellsOfAGradient) {
  const auto found = Compare(Rounded(kF32, {1, 0, 5, 7, 0, kInf}),
                             AnswerOf({{},
                                       Sized(0, 0),
                                       Bounded(kInf),
                                       Valued(kNan),
                                       {.value = 0, .low = 0, .high = 2},
                                       Valued(kInf)}),
                             {});
  EXPECT_EQ(found.beyond, 0);
  EXPECT_EQ(found.telling, 3);
}

// Kills: a gradient of another shape or type that is compared in silence.
TEST(Compare, AnotherShapeOrTypeIsAMismatch) {
  const auto answer = AnswerOf({{}, {}});
  EXPECT_THAT(Compare(Rounded(kF32, {1}), answer, {}).mismatch,
              HasSubstr("float32[1], the input is [2]"));
  const Tensor integers = Int64s({1, 1});
  EXPECT_THAT(Compare(integers, answer, {}).mismatch, HasSubstr("int64[2]"));
  EXPECT_EQ(Compare(Rounded(kF64, {1, 1}), answer, {}).mismatch, "");
}

// Kills: a worst element that is another, and a share or a limit of another
// one.
TEST(Compare, NamesTheWorstElement) {
  const auto found = Compare(Rounded(kF32, {1 + 4 * kU32, 1 + 10 * kU32, 2, 0}),
                             AnswerOf({{}, {}, Valued(2), Sized(0)}), {});
  EXPECT_EQ(found.count, 4);
  EXPECT_EQ(found.beyond, 1);
  EXPECT_EQ(found.zeros, 1);
  EXPECT_EQ(found.worst.index, 1);
  EXPECT_EQ(found.worst.want, 1);
  EXPECT_EQ(found.worst.got, 1 + 10 * kU32);
  EXPECT_NEAR(found.worst.limit, 6 * kU32, 1e-12);
  EXPECT_NEAR(found.worst.share, 10.0 / 6, 1e-6);
  EXPECT_EQ(found.max_abs_err, 10 * kU32);
  EXPECT_EQ(found.max_rel_err, 10 * kU32);
  EXPECT_EQ(found.sum, 4 + 14 * kU32);
  EXPECT_NEAR(found.sum_limit, 18 * kU32, 1e-12);
}

// Kills: a product of two small errors that is held against an element without
// units, and one that hides what is greater.
TEST(Compare, AllowsTheSecondOrderOfTheGreatestLimit) {
  const std::vector<Said> said = {Sized(1e6, 1e6), Sized(0, 0)};
  const double second_order = 6e6 * kU32 * kU32;
  const auto beyond = [&](double got) {
    return Compare(Rounded(kF32, {1e6, got}), AnswerOf(said), {}).beyond;
  };
  EXPECT_EQ(beyond(0.9 * second_order), 0);
  EXPECT_EQ(beyond(1.1 * second_order), 1);
  EXPECT_EQ(One(0.9 * second_order, said[1]).beyond, 1);
}

// Kills: the distance of a kink among those of elements, and of an unknown one
// among sums.
TEST(Compare, LimitsAreInfiniteWhereNothingIsJudged) {
  const auto found =
      Compare(Rounded(kF32, {1, 1, 5, 7}),
              AnswerOf({{}, Kink(0, 2), Bounded(kInf), Valued(kNan)}), {});
  ASSERT_EQ(found.limits.size(), 4U);
  EXPECT_NEAR(found.limits[0], 6 * kU32, 1e-12);
  for (const size_t i : {1U, 2U, 3U}) EXPECT_EQ(found.limits[i], kInf) << i;
}

// Kills: a percentile that is the greatest, a root that is not taken, and a
// unit that is a whole one.
TEST(Compare, CountsErrorsInRoundoffsOfTheirUnits) {
  Numbers got(200, 1);
  std::vector<Said> said(200);
  got[3] = 1 + 4 * kU32;
  got[4] = 1 + 2 * kU32;
  got[5] = 2 + 4 * kU32;
  said[5] = Sized(2);
  const auto found = Compare(Rounded(kF32, got), AnswerOf(said), {});
  EXPECT_EQ(found.max_units, 4);
  EXPECT_EQ(found.p99_units, 2);
  EXPECT_NEAR(found.rms_units, std::sqrt((16 + 4 + 4) / 200.0), 1e-12);
}

// Kills: parts of the limit that are those of another element, or swapped.
TEST(Compare, TellsTheLimitOfTheWorstElementByItsParts) {
  const Compared found =
      Compare(Rounded(kF32, {1, 1.5}),
              AnswerOf({{}, {.bound = 0.25, .units = 3, .hard = 12}}), {});
  EXPECT_EQ(found.worst.index, 1);
  EXPECT_EQ(found.worst.units, 3);
  EXPECT_EQ(found.worst.depth, 4);
  EXPECT_EQ(found.worst.bound, 0.25 + 0x1p-53);
  EXPECT_FALSE(found.worst.hull.has_value());
  const Compared kink = One(0.5, Kink(0, 1));
  EXPECT_EQ(kink.worst.hull, std::pair(0.0, 1.0));
}

// Kills: a convention that is named by one element of several.
TEST(Compare, NamesTheConventionAtKinks) {
  struct Convention {
    Numbers got;
    const char* name;
  };
  for (const Convention& row :
       std::initializer_list<Convention>{{{1, 1}, "1"},
                                         {{0, 0}, "0"},
                                         {{0.5, 0.5}, "split"},
                                         {{0.25, 0.5}, "split"},
                                         {{0.5, 0}, "mixed"},
                                         {{1, 0.5}, "mixed"},
                                         {{1, 0}, "first"},
                                         {{0, 0, 1}, "last"},
                                         {{1, 0, 1}, "mixed"}}) {
    const std::vector<Said> kinks(row.got.size(), Kink(0, 1));
    EXPECT_EQ(Compare(Rounded(kF32, row.got), AnswerOf(kinks), {}).convention,
              row.name);
  }
  // All that flows is the end that is farther from zero.
  EXPECT_EQ(One(-1, Kink(-1, 0)).convention, "1");
  EXPECT_EQ(One(1, {}).convention, "");
}

// Kills: a message in which two numbers that differ read alike.
TEST(InWords, HasTheDigitsThatTellTheTypesNumbersApart) {
  const double next = std::nextafter(1.0, 2.0);
  const Element element = {.index = 9, .want = 1, .got = next, .limit = 1e-17};
  EXPECT_EQ(InWords(element, DType::kFloat64),
            "element 9 is 1.0000000000000002, wanted 1 within 1e-17");
  EXPECT_EQ(
      InWords({.index = 0, .want = -1 / 3.0, .got = -kNan, .limit = 0}, kF32),
      "element 0 is nan, wanted -0.333333333 within 0");
  EXPECT_EQ(InWords({.index = 0,
                     .want = kNan,
                     .got = kNan,
                     .limit = 0.25,
                     .hull = {{-1.25, 1}}},
                    kF32),
            "element 0 is nan, wanted one in [-1.25, 1] within 0.25");
  EXPECT_EQ(
      InWords({.index = 1, .want = 208.284, .got = 208.25, .limit = 4.5}, kF16),
      "element 1 is 208.25, wanted 208.28 within 4.5");
}

// Kills: cotangents of so few bits that a backward may round them to a narrower
// type unseen.
TEST(Compare, RefusesABackwardThatRoundsItsCotangent) {
  struct Row {
    DType type, narrower;
  };
  for (const Row& row :
       {Row{kF64, kF32}, Row{kF32, DType::kBFloat16}, Row{kF32, kF16}}) {
    SCOPED_TRACE(StrCat(row.type, " by way of ", row.narrower));
    Draw draw("gradcheck/A/b", 1, "random 1");
    const Numbers dy =
        Weights(8, CotangentBits(row.type, InputClass::kRedrawn), draw);
    const Numbers rounded = NumbersOf(Rounded(row.narrower, dy));
    std::vector<Said> said;
    Numbers right, wrong;
    for (size_t i = 0; i < dy.size(); ++i) {
      right.push_back(3 * dy[i]);
      wrong.push_back(3 * rounded[i]);
      const double units = std::abs(right[i]);
      said.push_back({.value = right[i], .units = units, .hard = units});
    }
    const Yardstick yardstick = {.type = row.type};
    EXPECT_EQ(
        Compare(Rounded(row.type, right), AnswerOf(said), yardstick).beyond, 0);
    EXPECT_GT(
        Compare(Rounded(row.type, wrong), AnswerOf(said), yardstick).beyond, 0);
  }
}

// Kills: NaN of zero times an infinite derivative that is refused, and NaN that
// passes beside a derivative that is a number.
TEST(Compare, LeavesZeroTimesInfinityOpen) {
  const auto all = AnswerOf({Valued(kInf), Valued(2), Valued(kNan)});
  const auto hot = AnswerOf({Valued(0), Valued(0), Valued(0)});
  const Yardstick masked = {.type = kF32, .without_zeros = &all};
  EXPECT_EQ(Compare(Rounded(kF32, {kNan, 0, kNan}), hot, masked).beyond, 0);
  EXPECT_EQ(Compare(Rounded(kF32, {kNan, 0, kNan}), hot, masked).non_finite, 2);
  EXPECT_EQ(Compare(Rounded(kF32, {0, kNan, 0}), hot, masked).beyond, 1);
  EXPECT_EQ(Compare(Rounded(kF32, {1, 0, 1}), hot, masked).beyond, 2);
  EXPECT_EQ(Compare(Rounded(kF32, {kNan, 0, 0}), hot, {.type = kF32}).beyond,
            1);
  // Beyond the type's greatest number, and of no bound.
  const auto far = AnswerOf({Valued(1e39), Bounded(kInf), {}});
  const Yardstick beyond = {.type = kF32, .without_zeros = &far};
  EXPECT_EQ(Compare(Rounded(kF32, {kNan, kNan, 0}), hot, beyond).beyond, 0);
  EXPECT_EQ(Compare(Rounded(kF32, {0, 0, kNan}), hot, beyond).beyond, 1);
}

}  // namespace
}  // namespace assay::gradcheck
