// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/exact_difference.h"

#include <algorithm>
#include <cmath>

#include "framework/metric/element.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gtest/gtest.h"

namespace assay::metric {
namespace {

constexpr DType kFloats[] = {
    DType::kFloat16,        DType::kBFloat16,   DType::kFloat8E4M3FN,
    DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ,
    DType::kFloat8E8M0,     DType::kFloat6E2M3, DType::kFloat6E3M2,
    DType::kFloat4E2M1,
};

// Kills: a type with the digits or the range of another, rounding down or away
// from zero, ties to odd, a tail that is ignored at a tie.
TEST(RoundTo, TakesTheNearestOfAllPatternsOfEveryNarrowType) {
  for (const DType type : kFloats) {
    std::vector<double> all;
    for (uint64_t bits = 0; bits < uint64_t{1} << BitsOf(type); ++bits) {
      const double x = DecodeFloat(type, bits);
      if (std::isfinite(x)) all.push_back(x == 0 ? 0 : x);
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (size_t i = 0; i + 1 < all.size(); ++i) {
      const double low = all[i];
      const double high = all[i + 1];
      const double middle = (low + high) / 2;
      EXPECT_EQ(RoundTo(type, low, 0), low) << type;
      EXPECT_EQ(RoundTo(type, low, (high - low) * 0.49), low) << type;
      EXPECT_EQ(RoundTo(type, middle, -1e-20 * (high - low)), low) << type;
      EXPECT_EQ(RoundTo(type, middle, 1e-20 * (high - low)), high) << type;
      const double tie = RoundTo(type, middle, 0);
      EXPECT_TRUE(tie == low || tie == high) << type << " " << middle;
      if (type == DType::kFloat8E8M0) continue;  // no digits: none is even
      const double steps = tie / (high - low);
      EXPECT_EQ(std::fmod(steps, 2), 0) << type << " " << middle;
    }
  }
}

TEST(RoundTo, IsThatOfTheHardwareForFloat32AndFloat64) {
  const double tiny = std::ldexp(1, -149);
  const double numbers[] = {0.1,   -0.1,          1 / 3.0,    1e-40, tiny * 0.5,
                            1e300, tiny * 0.5001, 16777217.0, -1e39, 1e-46};
  for (const double x : numbers) {
    EXPECT_EQ(RoundTo(DType::kFloat32, x, 0), static_cast<float>(x)) << x;
    EXPECT_EQ(RoundTo(DType::kFloat64, x, 0), x);
  }
  EXPECT_EQ(RoundTo(DType::kFloat32, 1 + 0x1p-24, 1e-30), 1 + 0x1p-23);
  EXPECT_EQ(RoundTo(DType::kFloat32, 1 + 0x1p-24, -1e-30), 1);
  EXPECT_EQ(RoundTo(DType::kFloat64, 1, 0x1.1p-53), 1 + 0x1p-52);
  // Ties that the tail makes.
  EXPECT_EQ(RoundTo(DType::kFloat32, 1, 0x1p-24), 1);
  EXPECT_EQ(RoundTo(DType::kFloat32, 1 + 0x1p-23, 0x1p-24), 1 + 0x1p-22);
}

TEST(UlpAt, IsThatOfTheBinadeAndNeverBelowTheSmallestSubnormal) {
  const struct {
    DType type;
    double x, ulp;
  } rows[] = {
      {DType::kFloat32, 1, 0x1p-23},      {DType::kFloat32, -1.99, 0x1p-23},
      {DType::kFloat32, 2, 0x1p-22},      {DType::kFloat32, 0, 0x1p-149},
      {DType::kFloat32, 1e-50, 0x1p-149}, {DType::kFloat32, 1e50, 0x1p104},
      {DType::kFloat64, 1, 0x1p-52},      {DType::kFloat64, 0, 0x1p-1074},
      {DType::kFloat16, 0.1, 0x1p-14},    {DType::kBFloat16, 3, 0x1p-6},
      {DType::kFloat8E4M3FN, 448, 32},    {DType::kFloat8E8M0, 3, 2},
      {DType::kFloat4E2M1, 0.1, 0.5},     {DType::kFloat8E8M0, 0, 0x1p-127},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(UlpAt(row.type, row.x), row.ulp) << row.type << " " << row.x;
  }
}

using FloatList = std::vector<float>;

struct Exactly {
  std::vector<double> value, tail = {}, bound = {};
};

struct Counts {
  double max_ulp = 0;
  double share = 1;
  int64_t nan = 0, inf = 0, zero_sign = 0, out = 0, worst = -1;
};

struct Case {
  const char* mutant;
  FloatList got;
  Exactly exact;
  Counts want = {};
};

void Check(const Case& row) {
  const ExactDifference d = CompareExact(
      Floats(row.got), {row.exact.value, row.exact.tail, row.exact.bound, {}},
      {.rtol = 1e-3, .atol = 1e-7});
  EXPECT_EQ(d.nan_mismatch, row.want.nan) << row.mutant;
  EXPECT_EQ(d.inf_mismatch, row.want.inf) << row.mutant;
  EXPECT_EQ(d.sign_of_zero_mismatch, row.want.zero_sign) << row.mutant;
  EXPECT_EQ(d.out_of_limit, row.want.out) << row.mutant;
  EXPECT_EQ(d.worst_index, row.want.worst) << row.mutant;
  const UlpSummary ulp = d.ulp.value_or(UlpSummary{.share_zero = 1});
  EXPECT_DOUBLE_EQ(ulp.max, row.want.max_ulp) << row.mutant;
  EXPECT_DOUBLE_EQ(ulp.share_zero, row.want.share) << row.mutant;
}

TEST(CompareExact, MeasuresFromTheUnroundedNumber) {
  const double ulp = 0x1p-23;
  const Case rows[] = {
      {"distance to the rounded number", FloatList{1}, Exactly{{1 + ulp / 4}},
       Counts{.max_ulp = 0.25, .worst = 0}},
      {"distance in whole steps", FloatList{1}, Exactly{{1 + ulp * 2.75}},
       Counts{.max_ulp = 2.75, .share = 0, .worst = 0}},
      {"tail ignored", FloatList{1}, Exactly{{1}, {ulp / 8}},
       Counts{.max_ulp = 0.125, .worst = 0}},
      {"tail of the other sign", FloatList{1 + 0x1p-23F},
       Exactly{{1 + ulp / 2}, {ulp / 8}}, Counts{.max_ulp = 0.375, .worst = 0}},
      {"unit of got, not of the exact number", FloatList{1}, Exactly{{1 - ulp}},
       Counts{.max_ulp = 2, .share = 0, .worst = 0}},
      {"bound not counted in favour", FloatList{1},
       Exactly{{1 + ulp * 65 / 128}, {}, {ulp / 16}},
       Counts{.max_ulp = 65.0 / 128, .worst = 0}},
      {"bound counted without limit", FloatList{1},
       Exactly{{1 + ulp * 0.75}, {}, {ulp / 16}},
       Counts{.max_ulp = 0.75, .share = 0, .worst = 0}},
      {"a bound of NaN counted as none", FloatList{1},
       Exactly{{1 + ulp}, {}, {kNan}}, Counts{.max_ulp = 1, .worst = 0}},
      {"the worst by relative error", FloatList{1.5F, 1},
       Exactly{{1.5 + 2 * ulp, 1 + 1.75 * ulp}},
       Counts{.max_ulp = 2, .share = 0, .worst = 0}},
  };
  for (const Case& row : rows) Check(row);
}

TEST(CompareExact, HoldsNanAndInfinityAgainstWhatTheExactNumberRoundsTo) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Case rows[] = {
      {"NaN differs from NaN", FloatList{nan}, Exactly{{kNan}}},
      {"NaN agrees with anything", FloatList{nan, 1}, Exactly{{1, kNan}},
       Counts{.nan = 2, .out = 2, .worst = 0}},
      {"an overflow is a mismatch", FloatList{inf, -inf},
       Exactly{{1e39, -kInf}}},
      {"an overflow of the other sign agrees", FloatList{-inf}, Exactly{{1e39}},
       Counts{.inf = 1, .out = 1, .worst = 0}},
      {"the largest number stands for an overflow",
       FloatList{std::numeric_limits<float>::max()}, Exactly{{1e39}},
       Counts{.inf = 1, .out = 1, .worst = 0}},
      {"signs of zeros ignored", FloatList{-0.0F, 0.0F}, Exactly{{0, -1e-60}},
       Counts{.max_ulp = 1e-60 / 0x1p-149, .zero_sign = 2, .worst = 1}},
      {"a zero of the same sign counts", FloatList{0, -0.0F},
       Exactly{{0, -0.0}}},
      {"a zero of another sign than a number", FloatList{-0.0F}, Exactly{{1}},
       Counts{.max_ulp = 0x1p23, .share = 0, .out = 1, .worst = 0}},
  };
  for (const Case& row : rows) Check(row);
}

// Kills: a narrow type that may not saturate, or may with another sign; NaN
// that may become a number where there is one.
TEST(CompareExact, LetsWhatIsBeyondANarrowTypeSaturateOrBeNan) {
  const struct {
    DType type;
    uint8_t bits;
    double exact;
    int64_t inf, nan;
  } rows[] = {
      {DType::kFloat8E4M3FN, 0x7E, 1000, 0, 0},  // 448
      {DType::kFloat8E4M3FN, 0x7F, 1000, 0, 0},  // NaN
      {DType::kFloat8E4M3FN, 0xFE, -kInf, 0, 0},
      {DType::kFloat8E4M3FN, 0x7E, -1000, 1, 0},
      {DType::kFloat8E4M3FN, 0x38, 1000, 1, 0},  // 1
      {DType::kFloat8E4M3FN, 0x38, kNan, 0, 1},
      {DType::kFloat8E5M2, 0x7B, 1e6, 0, 0},  // 57344
      {DType::kFloat8E5M2, 0x7C, 1e6, 0, 0},  // infinity
      {DType::kFloat8E5M2, 0x7C, -1e6, 1, 0},
      {DType::kFloat8E5M2, 0x7F, 1, 0, 1},
      {DType::kFloat4E2M1, 0x07, kNan, 0, 0},  // 6
      {DType::kFloat4E2M1, 0x07, 100, 0, 0},
      {DType::kFloat4E2M1, 0x01, 100, 1, 0},
  };
  for (const auto& row : rows) {
    const ExactDifference d =
        CompareExact(Raw<uint8_t>(row.type, {1}, {row.bits}),
                     {{&row.exact, 1}, {}, {}, {}}, {});
    EXPECT_EQ(d.inf_mismatch, row.inf) << row.type << " " << int{row.bits};
    EXPECT_EQ(d.nan_mismatch, row.nan) << row.type << " " << int{row.bits};
  }
}

// Kills: a type of 16 bits and more that may saturate.
TEST(CompareExact, LetsNoWiderTypeSaturate) {
  const double infinite = kInf;
  for (const Tensor& largest :
       {Floats({std::numeric_limits<float>::max()}),
        Doubles({std::numeric_limits<double>::max()}),
        Raw<uint16_t>(DType::kFloat16, {1}, {0x7BFF}),
        Raw<uint16_t>(DType::kBFloat16, {1}, {0x7F7F})}) {
    const ExactDifference d =
        CompareExact(largest, {{&infinite, 1}, {}, {}, {}}, {});
    EXPECT_EQ(d.inf_mismatch, 1) << largest.dtype();
  }
}

// Kills: bits that are equal only where the last element's are, or where zeros
// have another sign.
TEST(CompareExact, EqualBitsAreThoseOfTheRoundedNumbers) {
  const struct {
    std::vector<double> got, value;
    bool equal;
  } rows[] = {
      {{1, 2}, {1, 2}, true},   {{1, 3}, {2, 3}, false},
      {{1, 2}, {1, 3}, false},  {{kNan}, {-kNan}, true},
      {{kNan}, {1}, false},     {{1}, {kNan}, false},
      {{-0.0}, {0}, false},     {{-0.0}, {-0.0}, true},
      {{kInf}, {kInf}, true},   {{-kInf}, {kInf}, false},
      {{1}, {1 + 1e-17}, true}, {{-1}, {1}, false},
  };
  for (const auto& row : rows) {
    const ExactDifference d =
        CompareExact(Doubles(row.got), {row.value, {}, {}, {}}, {});
    EXPECT_EQ(d.bitwise_equal, row.equal) << row.got[0] << " " << row.value[0];
  }
}

// Kills: a limit without one of its parts, an error at the limit taken for one
// beyond, a ratio that is not kept or not of error to limit.
TEST(CompareExact, HoldsErrorsAgainstTheLimitInDouble) {
  const struct {
    double got, value;
    Tolerance tolerance;
    int64_t out;
    double ratio;
  } rows[] = {
      {3, 2, {0.5, 0}, 0, 1},
      {3, -2, {0, 2}, 1, 2.5},
      {2.75, 2, {0.25, 0.5}, 0, 0.75},
      {1.5, 1, {0.25, 0}, 1, 2},
      {2, 2, {0, 0}, 0, 0},
      {2, 3, {0, 0}, 1, kInf},
      {kInf, 3, {9, 9}, 1, kInf},
  };
  for (const auto& row : rows) {
    const double value[] = {row.value, 0};
    const ExactDifference d =
        CompareExact(Doubles({row.got, 0}), {value, {}, {}, {}}, row.tolerance);
    EXPECT_EQ(d.out_of_limit, row.out) << row.got << " " << row.value;
    EXPECT_EQ(d.worst_ratio, row.ratio) << row.got << " " << row.value;
  }
}

// Kills: a unit of zero that is divided by, and units that are left out.
TEST(CompareExact, UnitErrorsAreOfTheElementsThatHaveAUnit) {
  const struct {
    std::vector<double> units;
    std::optional<double> greatest;
  } rows[] = {{{4, 4}, 0.125}, {{0, 0.5}, 1}, {{0, 0}, 0}, {{}, std::nullopt}};
  const float got[] = {1, 1};
  const double value[] = {1 + 0x1p-20, 1 + 0x1p-25};
  for (const auto& row : rows) {
    const bool near = !row.units.empty() && row.units[0] == 4;
    const double numbers[] = {near ? value[1] : value[0], value[1]};
    EXPECT_EQ(CompareExact(*Tensor::Of<float>({2}, std::span(got)),
                           {numbers, {}, {}, row.units}, {})
                  .greatest_unit_error,
              row.greatest);
  }
}

// sqrt(1 - 2^-53) is 1 - 2^-54 - 2^-109: with a tail of 53 bits it stands half
// way between two numbers, and its bound is less than that tail has digits for.
TEST(CompareExact, ABoundDecidesWhatATailLeavesOpen) {
  const double got[] = {1 - 0x1p-53, 1};
  const double value[] = {1, 1};
  const double tail[] = {-0x1p-54, -0x1p-54};
  const auto share = [&](const std::vector<double>& bound) {
    return CompareExact(*Tensor::Of<double>({2}, std::span(got)),
                        {value, tail, bound, {}}, {})
        .ulp->share_zero;
  };
  EXPECT_EQ(share({0x1p-108, 0x1p-108}), 1);
  EXPECT_EQ(share({0, 0}), 0.5);
}

// Kills: a rank that is one off.
TEST(CompareExact, QuantilesAreThoseOfASort) {
  for (const size_t n : {1, 2, 3, 10, 99, 100, 999, 1000, 1001, 2000}) {
    const std::vector<double> got(n, 1);
    std::vector<double> value(n);
    for (size_t i = 0; i < n; ++i) {  // 7919 is prime: each distance once
      value[i] = 1 + static_cast<double>(i * 7919 % n) * 0x1p-52;
    }
    const ExactDifference d =
        CompareExact(Doubles(got), {value, {}, {}, {}}, {});
    const auto at = [&](size_t thousandths) {
      return static_cast<double>((n * thousandths + 999) / 1000 - 1);
    };
    EXPECT_EQ(d.ulp->p50, at(500)) << n;
    EXPECT_EQ(d.ulp->p99, at(990)) << n;
    EXPECT_EQ(d.ulp->p999, at(999)) << n;
    EXPECT_EQ(d.ulp->max, at(1000)) << n;
  }
}

TEST(CompareExact, SumsUpWhatItKnowsOfAllElements) {
  std::vector<float> got(1000, 1);
  std::vector<double> value(1000, 1);
  value[999] = 1 + 10 * 0x1p-23;
  value[998] = 1 - 0x1p-23;
  const std::vector<double> bound(1000, 0x1p-25);
  const std::vector<double> units(1000, 4);
  const ExactDifference d =
      CompareExact(Floats(got), {value, {}, bound, units}, {.rtol = 1e-6});
  EXPECT_EQ(d.ulp->max, 10);
  EXPECT_EQ(d.ulp->p50, 0);
  EXPECT_EQ(d.ulp->p999, 2);  // 1 - 2^-23 has a smaller unit
  EXPECT_EQ(d.ulp->mean_signed, (2.0 - 10) / 1000);
  EXPECT_EQ(d.ulp->share_zero, 0.998);
  EXPECT_EQ(d.greatest_bound_ulp, 0.5);
  EXPECT_EQ(d.greatest_unit_error, 5);  // 10 ULP are 20 roundoffs
  EXPECT_EQ(d.out_of_limit, 1);
  EXPECT_EQ(d.worst_index, 999);
  EXPECT_FALSE(d.bitwise_equal);
  EXPECT_EQ(d.errors->max_abs, 10 * 0x1p-23);
}

}  // namespace
}  // namespace assay::metric
