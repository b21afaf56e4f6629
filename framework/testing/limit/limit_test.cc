// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/testing/draw/draw.h"
#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::limit {
namespace {

// Kills: a roundoff that is a whole unit in the last place, or of another type.
TEST(UnitRoundoff, IsHalfAUnitInTheLastPlace) {
  EXPECT_EQ(UnitRoundoff(DType::kFloat16), 0x1p-11);
  EXPECT_EQ(UnitRoundoff(DType::kBFloat16), 0x1p-8);
  EXPECT_EQ(UnitRoundoff(DType::kFloat32), 0x1p-24);
  EXPECT_EQ(UnitRoundoff(DType::kFloat64), 0x1p-53);
}

// Kills: a limit that grows as the depth, or shrinks below that of one
// rounding, and one that is a number where nothing is known.
TEST(LimitOf, GrowsAsTheRootOfTheDepth) {
  constexpr struct {
    double units, hard, limit;  // limits in roundoffs
  } kRows[] = {
      {1, 1, 6},     {1, 0, 6}, {2, 2, 12}, {1, 100, 42},
      {3, 300, 126}, {0, 0, 0}, {0, 5, 0},  {kInf, 1, kInf},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(LimitOf(row.units, row.hard, 0x1p-24), row.limit * 0x1p-24)
        << row.units << " " << row.hard;
  }
}

// Kills: sums that are counted in the case's roundoff although they are kept in
// another type, and a last rounding that is counted in the accumulator's.
TEST(LimitOf, CountsSumsInTheRoundoffOfTheirType) {
  constexpr double kU16 = 0x1p-11;
  constexpr double kU32 = 0x1p-24;
  constexpr struct {
    double units, hard, of_sums, limit;
  } kRows[] = {
      {1, 1, kU16, 6 * kU16},
      {1, 100, kU16, 42 * kU16},
      {1, 100, kU32, 40 * kU32 + 2 * kU16},
      {3, 300, kU32, 3 * (40 * kU32 + 2 * kU16)},
      {1, 100, 0, 2 * kU16},
      {0, 5, kU32, 0},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(LimitOf(row.units, row.hard, kU16, row.of_sums), row.limit)
        << row.units << " " << row.hard << " " << row.of_sums;
  }
}

using testing::HasSubstr;

constexpr double kU32 = 0x1p-24;  // the roundoff of float32
constexpr DType kF16 = DType::kFloat16;
constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;

/// An oracle's answer for one element.
struct Said {
  double value = 1, bound = 0, units = 1, hard = 1;
};

measure::ExactAnswer AnswerOf(const Said& said) {
  measure::ExactAnswer answer;
  answer.value = Rounded(kF64, {said.value});
  answer.bound = Rounded(kF64, {said.bound});
  answer.units = Rounded(kF64, {said.units});
  answer.hard_units = Rounded(kF64, {said.hard});
  return answer;
}

std::string Fault(double got, const Said& said,
                  const OutputLimit& limit = {.type = kF32}) {
  return FaultOf(Rounded(limit.type, {got}), AnswerOf(said), limit);
}

// Kills: an output that a limit of conformance or of units lets pass, or stops,
// and what is said of it.
TEST(FaultOf, IsTheFirstOutputBeyondBothLimits) {
  EXPECT_EQ(Fault(1, {}), "");
  EXPECT_EQ(Fault(1 + 4 * kU32, {}), "");
  EXPECT_THAT(Fault(1 + 16 * kU32, {}), HasSubstr("element 0 is 1"));
  const OutputLimit wide = {.type = kF32, .rtol = 1e-3, .atol = 1e-3};
  EXPECT_EQ(Fault(10.01, {.value = 10}, wide), "");
  EXPECT_THAT(Fault(10.02, {.value = 10}, wide), HasSubstr("wanted 10 within"));
  EXPECT_THAT(Fault(1 + 16 * kU32, {}), HasSubstr("is 1.00000095,"));
  // 0.6 and a small product, rounded once: 0.59527 between 0.59375 and
  // 0.59765625.
  const OutputLimit short_type = {.type = DType::kBFloat16};
  const Said sum = {.value = 0.59527, .units = 1e-4, .hard = 1e-4};
  EXPECT_EQ(Fault(0.59375, sum, short_type), "");
  EXPECT_NE(Fault(0.58984375, sum, short_type), "");
  EXPECT_EQ(Fault(1.5, {.bound = 0.5}), "");
  EXPECT_EQ(Fault(99, {.bound = kInf}), "");
  EXPECT_NE(Fault(kNan, {}), "");
  EXPECT_NE(Fault(1, {.value = kNan}), "");
  EXPECT_EQ(Fault(kNan, {.value = kNan}), "");
  EXPECT_EQ(Fault(kInf, {.value = kInf}), "");
  EXPECT_NE(Fault(-kInf, {.value = kInf}), "");
  EXPECT_NE(Fault(1, {.value = kInf}, wide), "");
  const OutputLimit half = {.type = kF16};
  EXPECT_EQ(Fault(kInf, {.value = 70000}, half), "");
  EXPECT_NE(Fault(kInf, {.value = 60000}, half), "");
  EXPECT_NE(Fault(-kInf, {.value = 70000}, half), "");
  EXPECT_THAT(FaultOf(Rounded(kF32, {1, 2}), AnswerOf({}), {}),
              HasSubstr("float32[2], wanted [1]"));
  EXPECT_EQ(FaultOf(Rounded(kF32, {1}), {}, {}), "");
}

// Kills: an output that is judged although it may be off by more than is asked
// for; one that is not although its limits are narrow, or that is zero.
TEST(OpenShare, IsThatOfTheLimitsInTheNumbers) {
  const auto share = [](const std::vector<double>& values,
                        const std::vector<double>& bounds, double rtol) {
    measure::ExactAnswer answer;
    answer.value = Rounded(kF64, values);
    answer.bound = Rounded(kF64, bounds);
    return OpenShare(answer, {kF32, rtol, 0});
  };
  EXPECT_DOUBLE_EQ(share({3, 4}, {0, 0}, 0.25), 0.25);
  EXPECT_DOUBLE_EQ(share({3, 4}, {0, 0.5}, 0), 0.1);
  EXPECT_DOUBLE_EQ(share({3, 4}, {kInf, 1}, 0), 0.25);
  EXPECT_EQ(share({3, 4}, {kInf, kInf}, 0), kInf);
  EXPECT_EQ(share({0, 0}, {1, 1}, 0), 0);
  EXPECT_EQ(share({}, {}, 0), 0);
  EXPECT_DOUBLE_EQ(share({kInf, 4}, {0, 1}, 0), 0.25);
  EXPECT_DOUBLE_EQ(OpenShare(AnswerOf({2, 0, 8, 8}), {kF32, 0, 0}),
                   (6 * 8 + 2) * kU32 / 2);
}

// Kills: an output that is near enough whatever its limits are, and that is far
// from what is exact, or as far as the oracle does not know.
TEST(ErrorShare, IsThatOfTheDistanceInTheNumbers) {
  const auto share = [](const std::vector<double>& got,
                        const std::vector<double>& bounds) {
    measure::ExactAnswer answer;
    answer.value = Rounded(kF64, {3, 4});
    answer.bound = Rounded(kF64, bounds);
    return ErrorShare(Rounded(kF32, got), answer);
  };
  EXPECT_EQ(share({3, 4}, {0, 0}), 0);
  EXPECT_DOUBLE_EQ(share({3, 4.5}, {0, 0}), 0.1);
  EXPECT_DOUBLE_EQ(share({3, 4.25}, {0, 0.25}), 0.1);
  EXPECT_DOUBLE_EQ(share({9, 5}, {kInf, 0}), 0.25);
  EXPECT_EQ(share({3, 4}, {kInf, kInf}), kInf);
}

}  // namespace
}  // namespace assay::limit
