// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/difference.h"

#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace assay::metric {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();

// A vector of `count` elements, given by their bytes.
template <class T>
Tensor Raw(DType type, int64_t count, const std::vector<T>& bits) {
  auto tensor =
      Tensor::FromBytes(type, {count}, std::as_bytes(std::span(bits)));
  return tensor.ok() ? *tensor : Tensor();
}

template <class T>
Tensor Of(const std::vector<T>& elements) {
  return Raw(kDTypeOf<T>, static_cast<int64_t>(elements.size()), elements);
}

Tensor Halves(const std::vector<uint16_t>& bits) {
  return Raw(DType::kFloat16, static_cast<int64_t>(bits.size()), bits);
}

Tensor Words(const std::vector<uint32_t>& bits) {
  return Raw(DType::kFloat32, static_cast<int64_t>(bits.size()), bits);
}

struct RuleRow {
  std::string why;
  Tensor got, want;
  double rtol, atol;
  int64_t out_of_limit;
};

// Where rounding decides, in the element type as numpy does: double precision
// would put the first three rows out of limit.
std::vector<RuleRow> RuleRows() {
  return {
      {"float16 at 2^-1", Halves({0x3BCD}), Halves({0x3BCF}), 1e-3, 1e-7, 0},
      {"float16 below 1", Halves({0x31B0}), Halves({0x31C7}), 1e-2, 1e-3, 0},
      {"float16 subnormal", Halves({0x83C9}), Halves({0x8435}), 0.1, 0, 0},
      {"float16 one step on", Halves({0x3BCC}), Halves({0x3BCF}), 1e-3, 0, 1},
      {"float16 largest", Halves({0x7BFF}), Halves({0xFBFF}), 1, 0, 1},
      // 16.25 * 4032 is 65520, half a step beyond the largest.
      {"float16 bound", Halves({0xFBFF}), Halves({0x6BE0}), 16.25, 0, 0},
      // 100 against 2^-14: a tolerance of 65520 is infinite in float16.
      {"float16 rtol", Halves({0x5640}), Halves({0x0400}), 65520, 0, 0},
      {"float32", Words({0xBE921E77}), Words({0xBE9243EC}), 1e-3, 1e-7, 0},
      {"float64 at the limit", Of<double>({1.5}), Of<double>({1}), 0.5, 0, 0},
      {"float64 a step out", Of<double>({1.5000000000000002}), Of<double>({1}),
       0.5, 0, 1},
      {"float64 overflows", Of<double>({1e308}), Of<double>({-1e308}), 1, 0, 1},
      {"bfloat16 2 steps", Raw<uint16_t>(DType::kBFloat16, 1, {0x3F82}),
       Raw<uint16_t>(DType::kBFloat16, 1, {0x3F80}), 0x1p-6, 0, 0},
      {"bfloat16 3 steps", Raw<uint16_t>(DType::kBFloat16, 1, {0x3F83}),
       Raw<uint16_t>(DType::kBFloat16, 1, {0x3F80}), 0x1p-6, 0, 1},
      {"float8 a step", Raw<uint8_t>(DType::kFloat8E4M3FN, 1, {0x39}),
       Raw<uint8_t>(DType::kFloat8E4M3FN, 1, {0x38}), 1e-3, 1e-7, 1},
      {"float4 a step", Raw<uint8_t>(DType::kFloat4E2M1, 2, {0x32}),
       Raw<uint8_t>(DType::kFloat4E2M1, 2, {0x22}), 0.5, 0, 0},
      {"the modulus of a complex difference",
       Raw<float>(DType::kComplex64, 1, {3, 4}),
       Raw<float>(DType::kComplex64, 1, {0, 0}), 0, 5, 0},
      {"and not its parts", Raw<float>(DType::kComplex64, 1, {3, 4}),
       Raw<float>(DType::kComplex64, 1, {0, 0}), 0, 4.5, 1},
      {"relative to the modulus", Raw<double>(DType::kComplex128, 1, {3, 5}),
       Raw<double>(DType::kComplex128, 1, {3, 4}), 0.2, 0, 0},
  };
}

TEST(DifferenceTest, LimitsAreThoseOfNumpy) {
  for (const RuleRow& row : RuleRows()) {
    const Difference difference =
        Compare(row.got, row.want, {.rtol = row.rtol, .atol = row.atol});
    EXPECT_EQ(difference.out_of_limit, row.out_of_limit) << row.why;
    EXPECT_EQ(difference.worst_ratio > 1, row.out_of_limit > 0) << row.why;
  }
}

struct SpecialRow {
  double got, want;
  int64_t nan_mismatch, inf_mismatch, sign_of_zero_mismatch, out_of_limit;
  int64_t worst_index;
};

TEST(DifferenceTest, NanInfinityAndZeroAreCountedApart) {
  const std::vector<SpecialRow> rows = {
      {kNan, kNan, 0, 0, 0, 0, 1}, {-kNan, kNan, 0, 0, 0, 0, 1},
      {kNan, 1, 1, 0, 0, 1, 0},    {1, kNan, 1, 0, 0, 1, 0},
      {kInf, kNan, 1, 0, 0, 1, 0}, {kNan, kInf, 1, 0, 0, 1, 0},
      {kInf, kInf, 0, 0, 0, 0, 1}, {-kInf, kInf, 0, 1, 0, 1, 0},
      {kInf, 1, 0, 1, 0, 1, 0},    {1, -kInf, 0, 1, 0, 1, 0},
      {0.0, -0.0, 0, 0, 1, 0, 1},  {-0.0, 0.0, 0, 0, 1, 0, 1},
      {-0.0, -0.0, 0, 0, 0, 0, 1}, {0.0, 1, 0, 0, 0, 0, 0},
  };
  for (const SpecialRow& row : rows) {
    // The last element differs, so that no short cut for equal bytes is taken.
    const Tensor got = Of<double>({row.got, 2});
    const Tensor want = Of<double>({row.want, 3});
    const Difference difference = Compare(got, want, {.rtol = 1, .atol = 1});
    EXPECT_EQ(difference.nan_mismatch, row.nan_mismatch)
        << row.got << " " << row.want;
    EXPECT_EQ(difference.inf_mismatch, row.inf_mismatch)
        << row.got << " " << row.want;
    EXPECT_EQ(difference.sign_of_zero_mismatch, row.sign_of_zero_mismatch)
        << row.got << " " << row.want;
    EXPECT_EQ(difference.out_of_limit, row.out_of_limit)
        << row.got << " " << row.want;
    EXPECT_EQ(difference.worst_index, row.worst_index)
        << row.got << " " << row.want;
  }
}

TEST(DifferenceTest, ComplexNanAndInfinityAgreeAsInNumpy) {
  struct Row {
    std::complex<double> got, want;
    int64_t nan_mismatch, inf_mismatch;
  };
  const std::vector<Row> rows = {
      {{kNan, 1}, {2, kNan}, 0, 0}, {{kNan, 1}, {2, 1}, 1, 0},
      {{kInf, 1}, {kInf, 1}, 0, 0}, {{kInf, 1}, {kInf, 2}, 0, 1},
      {{kInf, 1}, {1, 1}, 0, 1},    {{kInf, kNan}, {kInf, 1}, 1, 0},
  };
  for (const Row& row : rows) {
    const Tensor got =
        Raw<std::complex<double>>(DType::kComplex128, 2, {row.got, 1});
    const Tensor want =
        Raw<std::complex<double>>(DType::kComplex128, 2, {row.want, 2});
    const Difference difference = Compare(got, want, {.rtol = 9});
    EXPECT_EQ(difference.nan_mismatch, row.nan_mismatch) << row.got;
    EXPECT_EQ(difference.inf_mismatch, row.inf_mismatch) << row.got;
    EXPECT_EQ(difference.out_of_limit, row.nan_mismatch + row.inf_mismatch);
  }
}

// Kills: the imaginary parts left out of the sums, or in the place of the
// moduli; a sign of zero that is not counted, or only of one part.
TEST(DifferenceTest, ComplexErrorsAreOfBothParts) {
  for (const DType type : {DType::kComplex64, DType::kComplex128}) {
    const auto of = [&](const std::vector<std::complex<double>>& elements) {
      if (type == DType::kComplex128) return Raw(type, 5, elements);
      return Raw(
          type, 5,
          std::vector<std::complex<float>>(elements.begin(), elements.end()));
    };
    const Difference difference = Compare(
        of({{1, 5}, {2, -6}, {-0.0, 1}, {1, 0.0}, {0, 0}}),
        of({{1, 2}, {2, -2}, {0.0, 1}, {1, -0.0}, {0, 0}}), {.rtol = 1.4});
    ASSERT_TRUE(difference.errors.has_value()) << type;
    EXPECT_EQ(difference.errors->min_diff, -4) << type;
    EXPECT_EQ(difference.errors->max_diff, 3) << type;
    EXPECT_EQ(difference.errors->max_abs, 4) << type;
    EXPECT_FLOAT_EQ(static_cast<float>(*difference.errors->max_rel),
                    std::sqrt(2.0F));
    EXPECT_DOUBLE_EQ(difference.errors->rmse, std::sqrt(5.0)) << type;
    EXPECT_DOUBLE_EQ(difference.errors->rel_l2, 5 / std::sqrt(15.0)) << type;
    EXPECT_DOUBLE_EQ(difference.errors->cosine, 29 / std::sqrt(68.0 * 15))
        << type;
    EXPECT_EQ(difference.sign_of_zero_mismatch, 2) << type;
    EXPECT_EQ(difference.out_of_limit, 1) << type;
    EXPECT_EQ(difference.worst_index, 1) << type;
    EXPECT_FALSE(difference.bitwise_equal) << type;
  }
}

TEST(DifferenceTest, IntegersAreExactWhateverTheTolerance) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  struct Row {
    Tensor got, want;
    int64_t out_of_limit;
    double min_diff, max_diff;
  };
  const std::vector<Row> rows = {
      {Of<int32_t>({1, 2, 5}), Of<int32_t>({1, 3, 3}), 2, -1, 2},
      {Of<uint8_t>({0}), Of<uint8_t>({255}), 1, -255, -255},
      {Of<int8_t>({-128}), Of<int8_t>({127}), 1, -255, -255},
      // Equal as doubles.
      {Of<int64_t>({kMax}), Of<int64_t>({kMax - 1}), 1, 1, 1},
      {Of<int64_t>({kMin}), Of<int64_t>({kMax}), 1, -0x1p64, -0x1p64},
      {Of<uint64_t>({~uint64_t{0}}), Of<uint64_t>({1}), 1, 0x1p64, 0x1p64},
      {Raw<uint8_t>(DType::kBool, 2, {1, 0}),
       Raw<uint8_t>(DType::kBool, 2, {1, 1}), 1, -1, 0},
      // -1 and 7, 7 and 7; the unused bits of the last byte do not count.
      {Raw<uint8_t>(DType::kInt4, 3, {0x7F, 0xF1}),
       Raw<uint8_t>(DType::kInt4, 3, {0x77, 0x01}), 1, -8, 0},
      {Raw<uint8_t>(DType::kUint4, 3, {0x77, 0xF1}),
       Raw<uint8_t>(DType::kUint4, 3, {0x77, 0x01}), 0, 0, 0},
      {Raw<uint8_t>(DType::kInt2, 2, {0x0B}),
       Raw<uint8_t>(DType::kInt2, 2, {0x0A}), 1, 0, 1},
  };
  for (const Row& row : rows) {
    const Difference difference =
        Compare(row.got, row.want, {.rtol = 100, .atol = 100});
    const std::string name = row.want.Signature();
    EXPECT_EQ(difference.out_of_limit, row.out_of_limit) << name;
    EXPECT_EQ(difference.bitwise_equal, row.out_of_limit == 0) << name;
    EXPECT_EQ(difference.worst_ratio, row.out_of_limit > 0 ? kInf : 0) << name;
    EXPECT_FALSE(difference.ulp.has_value()) << name;
    ASSERT_TRUE(difference.errors.has_value()) << name;
    EXPECT_EQ(difference.errors->min_diff, row.min_diff) << name;
    EXPECT_EQ(std::signbit(difference.errors->min_diff), row.min_diff < 0)
        << name;
    EXPECT_EQ(difference.errors->max_diff, row.max_diff) << name;
  }
}

TEST(DifferenceTest, UnusedBitsOfTheLastByteOfFloatsDoNotCount) {
  for (const DType type : {DType::kFloat4E2M1, DType::kFloat6E2M3}) {
    const Difference difference = Compare(Raw<uint8_t>(type, 1, {0xC1}),
                                          Raw<uint8_t>(type, 1, {0x01}), {});
    EXPECT_TRUE(difference.bitwise_equal) << type;
    EXPECT_EQ(difference.out_of_limit, 0) << type;
  }
}

TEST(DifferenceTest, WorstIntegerIsTheFarthest) {
  const Difference difference =
      Compare(Of<int32_t>({1, 2, 9, 4}), Of<int32_t>({1, 3, 3, 10}), {});
  EXPECT_EQ(difference.worst_index, 2);
}

// Kills: a pair at the limit, or a bound that overflows, with a ratio of its
// own.
TEST(DifferenceTest, TheWorstRatioIsOfErrorToBound) {
  const struct {
    double got, want;
    Tolerance tolerance;
    double ratio;
    int64_t index;
  } rows[] = {
      {1.5, 1, {0.25, 0}, 2, 0},  {1.5, 1, {0.5, 0}, 1, 0},
      {1.5, 1, {0, 0}, kInf, 0},  {1.5, -1, {0, 0.25}, 10, 0},
      {-0.0, 0, {0, 0}, 0, -1},   {1e308, -1e308, {10, 0}, 1, 0},
      {kNan, 1, {9, 9}, kInf, 0}, {-1e308, 1e308, {1, 0}, kInf, 0},
  };
  for (const auto& row : rows) {
    const Difference difference =
        Compare(Of<double>({row.got}), Of<double>({row.want}), row.tolerance);
    EXPECT_EQ(difference.worst_ratio, row.ratio) << row.got << " " << row.want;
    EXPECT_EQ(difference.worst_index, row.index) << row.got << " " << row.want;
    EXPECT_FALSE(difference.bitwise_equal) << row.got << " " << row.want;
  }
}

TEST(DifferenceTest, UlpsAreOfTheElementType) {
  struct Row {
    Tensor got, want;
    double max, mean_signed, share_zero;
  };
  const std::vector<Row> rows = {
      {Of<float>({1, 2}), Of<float>({1, 1}), 0x1p23, 0x1p22, 0.5},
      {Of<double>({0.5, 1}), Of<double>({1, 1}), 0x1p52, -0x1p51, 0.5},
      {Halves({0x3C00, 0x3C03}), Halves({0x3C01, 0x3C00}), 3, 1, 0},
      {Raw<uint8_t>(DType::kFloat8E8M0, 2, {0x80, 0x10}),
       Raw<uint8_t>(DType::kFloat8E8M0, 2, {0x7F, 0x10}), 1, 0.5, 0.5},
      // The least numbers below and above zero.
      {Words({0x80000001}), Words({1}), 2, -2, 0},
      {Of<double>({-0x1p-1074}), Of<double>({0x1p-1074}), 2, -2, 0},
      {Halves({0x8001}), Halves({1}), 2, -2, 0},
      {Raw<uint16_t>(DType::kBFloat16, 1, {0x8001}),
       Raw<uint16_t>(DType::kBFloat16, 1, {1}), 2, -2, 0},
      // 1 and -0.5 against 1 and 0.5.
      {Raw<uint8_t>(DType::kFloat4E2M1, 2, {0x92}),
       Raw<uint8_t>(DType::kFloat4E2M1, 2, {0x12}), 2, -1, 0.5},
  };
  for (const Row& row : rows) {
    const Difference difference = Compare(row.got, row.want, {});
    const std::string name = row.want.Signature();
    ASSERT_TRUE(difference.ulp.has_value()) << name;
    EXPECT_EQ(difference.ulp->max, row.max) << name;
    EXPECT_EQ(difference.ulp->mean_signed, row.mean_signed) << name;
    EXPECT_EQ(difference.ulp->share_zero, row.share_zero) << name;
  }
}

TEST(DifferenceTest, SquaresOfLargeDoublesDoNotOverflow) {
  const Difference difference =
      Compare(Of<double>({2e200, 3e200}), Of<double>({2e200, 4e200}), {});
  EXPECT_DOUBLE_EQ(difference.errors->rmse, std::sqrt(0.5) * 1e200);
  EXPECT_DOUBLE_EQ(difference.errors->rel_l2, std::sqrt(1.0 / 20));
}

TEST(DifferenceTest, EqualBytesYieldZeros) {
  for (const Tensor& tensor :
       {Of<float>({kNanF, kInfF, 3}), Of<double>({-0.0}), Halves({0x7C00, 1}),
        Of<int32_t>({7}), Raw<float>(DType::kComplex64, 1, {1, 2}),
        Raw<double>(DType::kComplex128, 2, {1, kInf, 1, 2})}) {
    const Difference difference = Compare(tensor, tensor, {});
    const std::string name = tensor.Signature();
    EXPECT_TRUE(difference.bitwise_equal) << name;
    EXPECT_EQ(difference.out_of_limit, 0) << name;
    EXPECT_EQ(difference.worst_index, -1) << name;
    EXPECT_EQ(difference.worst_ratio, 0) << name;
    ASSERT_TRUE(difference.errors.has_value()) << name;
    EXPECT_EQ(difference.errors->max_abs, 0) << name;
    EXPECT_EQ(difference.errors->max_rel, 0) << name;
    EXPECT_EQ(difference.errors->cosine, 1) << name;
    ASSERT_EQ(difference.ulp.has_value(), IsFloatingPoint(tensor.dtype()));
    if (difference.ulp) {
      EXPECT_EQ(difference.ulp->share_zero, 1) << name;
    }
  }
}

// Nothing finite to measure: no number is made up.
TEST(DifferenceTest, NumbersAreAbsentWithoutFinitePairs) {
  struct Row {
    Tensor got, want;
  };
  const std::vector<Row> rows = {
      {Of<float>({}), Of<float>({})},
      {Of<float>({kNanF}), Of<float>({kNanF})},
      {Of<float>({-kNanF}), Of<float>({kNanF})},
      {Of<double>({kInf, 1}), Of<double>({1, kNan})},
      {Raw<float>(DType::kComplex64, 1, {1, kInfF}),
       Raw<float>(DType::kComplex64, 1, {1, kInfF})},
      {Raw<double>(DType::kComplex128, 2, {1, kInf, kNan, 2}),
       Raw<double>(DType::kComplex128, 2, {1, kInf, kNan, 2})},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const Difference difference = Compare(rows[i].got, rows[i].want, {});
    EXPECT_FALSE(difference.errors.has_value()) << i;
    EXPECT_FALSE(difference.ulp.has_value()) << i;
  }
}

// Kills: ratios of another arithmetic than the verdict's, or in other places.
TEST(DifferenceTest, RatiosAreThoseThatTheWorstIsTakenFrom) {
  const Tensor got = Of<float>({1, 2, kNanF, 1, kNanF});
  const Tensor want = Of<float>({1, 1, 1, 1.25F, kNanF});
  EXPECT_EQ(RatiosOf(got, want, {.atol = 0.5}),
            (std::vector<double>{0, 2, kInf, 0.5, 0}));
  EXPECT_EQ(RatiosOf(Of<int32_t>({4, 1}), Of<int32_t>({1, 1}), {}),
            (std::vector<double>{3, 0}));
}

}  // namespace
}  // namespace assay::metric
