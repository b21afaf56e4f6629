// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::limit {
namespace {

using testing::HasSubstr;

constexpr double kRoundoff = 0x1p-24;  // the roundoff of float32

/// An oracle's answer, of which each element has one bound and one unit.
measure::ExactAnswer ExactAnswerOf(const std::vector<double>& values,
                                   double bound = 0, double units = 1) {
  const auto all = [&](double x) {
    return Rounded(DType::kFloat64, std::vector<double>(values.size(), x));
  };
  measure::ExactAnswer answer;
  answer.value = Rounded(DType::kFloat64, values);
  answer.bound = all(bound);
  answer.units = all(units);
  answer.hard_units = all(units);
  return answer;
}

Value Got32(const std::vector<double>& numbers) {
  return Rounded(DType::kFloat32, numbers);
}

// Kills: a distance in other units than the limit, of the first element or of
// one whose right value or limit nobody knows, or within a tolerance.
TEST(DistanceOf, IsThatOfTheWorstKnownElementInLimits) {
  const struct {
    const char* about;
    double got;
    measure::ExactAnswer answer;
    double limits;
    int64_t n_known;
  } rows[] = {
      {"right", 1, ExactAnswerOf({1}), 0, 1},
      // 6 roundoffs of a unit, and one of the value.
      {"half a limit", 1 + 64 * kRoundoff, ExactAnswerOf({1}, 0, 21.5), 0.492,
       1},
      {"two limits", 1 + 260 * kRoundoff, ExactAnswerOf({1}, 0, 21.5), 2, 1},
      {"the least limit", 1 + 128 * kRoundoff, ExactAnswerOf({1}), 2, 1},
      {"a bound", 1 + 260 * kRoundoff, ExactAnswerOf({1}, 10 * kRoundoff, 21.5),
       1.857, 1},
      {"a wide bound", 1 + 260 * kRoundoff,
       ExactAnswerOf({1}, 130 * kRoundoff, 21.5), 1, 0},
      {"no bound", 99, ExactAnswerOf({1}, kInf), 0, 0},
      {"no unit", 99, ExactAnswerOf({1}, 0, kInf), 0, 0},
      {"nothing allowed", 0x1p-60, ExactAnswerOf({0}, 0, 0), 0x1p66, 1},
      {"flushed", 0, ExactAnswerOf({0x1p-130}, 0, 0), 0.0625, 1},
      {"not a number", kNan, ExactAnswerOf({1}), kInf, 1},
      {"NaN as well", kNan, ExactAnswerOf({kNan}, 0, 0), 0, 0},
  };
  for (const auto& row : rows) {
    const Distance distance = DistanceOf(Got32({row.got}), row.answer);
    if (distance.limits != row.limits) {
      EXPECT_NEAR(distance.limits, row.limits, 1e-3) << row.about;
    }
    EXPECT_EQ(distance.n_known, row.n_known) << row.about;
    EXPECT_EQ(distance.n_elements, 1) << row.about;
    EXPECT_EQ(distance.fault.empty(), !(row.limits > 1)) << row.about;
  }
  const Distance second = DistanceOf(
      Got32({1 + 80 * kRoundoff, 1 + 640 * kRoundoff}), ExactAnswerOf({1, 1}));
  EXPECT_EQ(second.least, 64 * kRoundoff);
  EXPECT_THAT(second.fault, HasSubstr("element 1 is 1.00003815"));
  EXPECT_THAT(DistanceOf(Got32({2, 2}), ExactAnswerOf({1, 1})).fault,
              HasSubstr("element 0 is 2"))
      << "the first of two that are as bad";
  EXPECT_EQ(DistanceOf(Value(Rounded(DType::kFloat16, {1, 0x1.8p-8})),
                       ExactAnswerOf({1, 0x1p-8}, 0, 0))
                .limits,
            512)
      << "float32 has the least limit of narrower types";
}

TEST(DistanceOf, OfOtherValuesIsNoneOrInfinite) {
  const Value three = Int64s({3});
  const Value four = Int64s({4});
  const auto as_is = [](const Value& value) {
    measure::ExactAnswer answer;
    answer.value = value;
    return answer;
  };
  EXPECT_EQ(DistanceOf(three, as_is(three)).limits, 0);
  EXPECT_EQ(DistanceOf(three, as_is(four)).limits, kInf);
  EXPECT_THAT(DistanceOf(three, as_is(four)).fault, HasSubstr("int64[1]"));
  EXPECT_EQ(DistanceOf(three, as_is({})).n_known, 0) << "in doubt";
  EXPECT_THAT(DistanceOf(Got32({1, 2}), ExactAnswerOf({1})).fault,
              HasSubstr("float32[2], wanted [1]"));
}

// Items have no units: what is off by more than a rounding is not known.
TEST(DistanceOf, OfItemsKnowsThoseThatAreRight) {
  const auto list = [](Tensor item) {
    Sequence sequence;
    sequence.items = {Value(std::move(item))};
    return Value(std::move(sequence));
  };
  measure::ExactAnswer answer;
  answer.value = list(Rounded(DType::kFloat64, {1 + kRoundoff, 2}));
  const Distance distance =
      DistanceOf(list(Rounded(DType::kFloat32, {1, 2.5})), answer);
  EXPECT_EQ(distance.limits, 0);
  EXPECT_EQ(distance.n_known, 1);
  EXPECT_EQ(distance.n_elements, 2);
}

TEST(InheritedOf, IsWhatTheInputsOfTheNodeMade) {
  const measure::ExactAnswer node = ExactAnswerOf({1, 2});
  const auto inherited = [&](const measure::ExactAnswer& network) {
    return InheritedOf(network, node, DType::kFloat32);
  };
  EXPECT_EQ(inherited(ExactAnswerOf({1, 2})), 0);
  EXPECT_EQ(inherited(ExactAnswerOf({1 + 256 * kRoundoff, 2})), 2);
  EXPECT_EQ(inherited(ExactAnswerOf({1 + 256 * kRoundoff, 2}, 128 * kRoundoff)),
            1)
      << "at least so much";
  EXPECT_EQ(inherited(ExactAnswerOf({1, 3}, kInf)), std::nullopt);
  EXPECT_EQ(inherited({}), std::nullopt);
}

}  // namespace
}  // namespace assay::limit
