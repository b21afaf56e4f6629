// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/difference.h"

#include <complex>

#include "framework/testing/support/tensors_fixture.h"
#include "gtest/gtest.h"

namespace assay::metric {
namespace {

Tensor Halves(const std::vector<uint16_t>& bits) {
  return Raw(DType::kFloat16, {std::ssize(bits)}, bits);
}

Tensor Brains(const std::vector<uint16_t>& bits) {
  return Raw(DType::kBFloat16, {std::ssize(bits)}, bits);
}

Tensor Words(const std::vector<uint32_t>& bits) {
  return Raw(DType::kFloat32, {std::ssize(bits)}, bits);
}

// Where rounding decides, in the element type as numpy does: double precision
// would put the first three rows out of limit.
TEST(DifferenceTest, LimitsAreThoseOfNumpy) {
  const struct {
    std::string why;
    Tensor got, want;
    double rtol, atol;
    int64_t out_of_limit;
  } rows[] = {
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
      {"float64 at the limit", Doubles({1.5}), Doubles({1}), 0.5, 0, 0},
      {"float64 a step out", Doubles({1.5000000000000002}), Doubles({1}), 0.5,
       0, 1},
      {"float64 overflows", Doubles({1e308}), Doubles({-1e308}), 1, 0, 1},
      {"bfloat16 2 steps", Brains({0x3F82}), Brains({0x3F80}), 0x1p-6, 0, 0},
      {"bfloat16 3 steps", Brains({0x3F83}), Brains({0x3F80}), 0x1p-6, 0, 1},
      {"float8 a step", Raw<uint8_t>(DType::kFloat8E4M3FN, {1}, {0x39}),
       Raw<uint8_t>(DType::kFloat8E4M3FN, {1}, {0x38}), 1e-3, 1e-7, 1},
      {"float4 a step", Raw<uint8_t>(DType::kFloat4E2M1, {2}, {0x32}),
       Raw<uint8_t>(DType::kFloat4E2M1, {2}, {0x22}), 0.5, 0, 0},
      {"the modulus of a complex difference",
       Raw<float>(DType::kComplex64, {1}, {3, 4}),
       Raw<float>(DType::kComplex64, {1}, {0, 0}), 0, 5, 0},
      {"and not its parts", Raw<float>(DType::kComplex64, {1}, {3, 4}),
       Raw<float>(DType::kComplex64, {1}, {0, 0}), 0, 4.5, 1},
      {"relative to the modulus", Raw<double>(DType::kComplex128, {1}, {3, 5}),
       Raw<double>(DType::kComplex128, {1}, {3, 4}), 0.2, 0, 0},
  };
  for (const auto& row : rows) {
    const Difference difference =
        Compare(row.got, row.want, {.rtol = row.rtol, .atol = row.atol});
    EXPECT_EQ(difference.out_of_limit, row.out_of_limit) << row.why;
    EXPECT_EQ(difference.worst_ratio > 1, row.out_of_limit > 0) << row.why;
  }
}

TEST(DifferenceTest, NanInfinityAndZeroAreCountedApart) {
  const struct {
    double got, want;
    int64_t nan_mismatch, inf_mismatch, sign_of_zero_mismatch, out_of_limit;
    int64_t worst_index;
  } rows[] = {
      {kNan, kNan, 0, 0, 0, 0, 1}, {-kNan, kNan, 0, 0, 0, 0, 1},
      {kNan, 1, 1, 0, 0, 1, 0},    {1, kNan, 1, 0, 0, 1, 0},
      {kInf, kNan, 1, 0, 0, 1, 0}, {kNan, kInf, 1, 0, 0, 1, 0},
      {kInf, kInf, 0, 0, 0, 0, 1}, {-kInf, kInf, 0, 1, 0, 1, 0},
      {kInf, 1, 0, 1, 0, 1, 0},    {1, -kInf, 0, 1, 0, 1, 0},
      {0.0, -0.0, 0, 0, 1, 0, 1},  {-0.0, 0.0, 0, 0, 1, 0, 1},
      {-0.0, -0.0, 0, 0, 0, 0, 1}, {0.0, 1, 0, 0, 0, 0, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.got, " ", row.want));
    // The last element differs, so that no short cut for equal bytes is taken.
    const Tensor got = Doubles({row.got, 2});
    const Tensor want = Doubles({row.want, 3});
    const Difference difference = Compare(got, want, {.rtol = 1, .atol = 1});
    EXPECT_EQ(difference.nan_mismatch, row.nan_mismatch);
    EXPECT_EQ(difference.inf_mismatch, row.inf_mismatch);
    EXPECT_EQ(difference.sign_of_zero_mismatch, row.sign_of_zero_mismatch);
    EXPECT_EQ(difference.out_of_limit, row.out_of_limit);
    EXPECT_EQ(difference.worst_index, row.worst_index);
  }
}

TEST(DifferenceTest, ComplexNanAndInfinityAgreeAsInNumpy) {
  const struct {
    std::complex<double> got, want;
    int64_t nan_mismatch, inf_mismatch;
  } rows[] = {
      {{kNan, 1}, {2, kNan}, 0, 0}, {{kNan, 1}, {2, 1}, 1, 0},
      {{kInf, 1}, {kInf, 1}, 0, 0}, {{kInf, 1}, {kInf, 2}, 0, 1},
      {{kInf, 1}, {1, 1}, 0, 1},    {{kInf, kNan}, {kInf, 1}, 1, 0},
  };
  for (const auto& row : rows) {
    const Tensor got =
        Raw<std::complex<double>>(DType::kComplex128, {2}, {row.got, 1});
    const Tensor want =
        Raw<std::complex<double>>(DType::kComplex128, {2}, {row.want, 2});
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
      if (type == DType::kComplex128) return Raw(type, {5}, elements);
      return Raw(
          type, {5},
          std::vector<std::complex<float>>(elements.begin(), elements.end()));
    };
    const Difference difference = Compare(
        of({{1, 5}, {2, -6}, {-0.0, 1}, {1, 0.0}, {0, 0}}),
        of({{1, 2}, {2, -2}, {0.0, 1}, {1, -0.0}, {0, 0}}), {.rtol = 1.4});
    SCOPED_TRACE(ToString(type));
    ASSERT_TRUE(difference.errors.has_value());
    EXPECT_EQ(difference.errors->min_diff, -4);
    EXPECT_EQ(difference.errors->max_diff, 3);
    EXPECT_EQ(difference.errors->max_abs, 4);
    EXPECT_FLOAT_EQ(static_cast<float>(*difference.errors->max_rel),
                    std::sqrt(2.0F));
    EXPECT_DOUBLE_EQ(difference.errors->rmse, std::sqrt(5.0));
    EXPECT_DOUBLE_EQ(difference.errors->rel_l2, 5 / std::sqrt(15.0));
    EXPECT_DOUBLE_EQ(difference.errors->cosine, 29 / std::sqrt(68.0 * 15));
    EXPECT_EQ(difference.sign_of_zero_mismatch, 2);
    EXPECT_EQ(difference.out_of_limit, 1);
    EXPECT_EQ(difference.worst_index, 1);
    EXPECT_FALSE(difference.bitwise_equal);
  }
}

TEST(DifferenceTest, IntegersAreExactWhateverTheTolerance) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    Tensor got, want;
    int64_t out_of_limit;
    double min_diff, max_diff;
  } rows[] = {
      {Elements<int32_t>({1, 2, 5}), Elements<int32_t>({1, 3, 3}), 2, -1, 2},
      {Elements<uint8_t>({0}), Elements<uint8_t>({255}), 1, -255, -255},
      {Elements<int8_t>({-128}), Elements<int8_t>({127}), 1, -255, -255},
      // Equal as doubles.
      {Int64s({kMax}), Int64s({kMax - 1}), 1, 1, 1},
      {Int64s({kMin}), Int64s({kMax}), 1, -0x1p64, -0x1p64},
      {Elements<uint64_t>({~uint64_t{0}}), Elements<uint64_t>({1}), 1, 0x1p64,
       0x1p64},
      {Raw<uint8_t>(DType::kBool, {2}, {1, 0}),
       Raw<uint8_t>(DType::kBool, {2}, {1, 1}), 1, -1, 0},
      // -1 and 7, 7 and 7; the unused bits of the last byte do not count.
      {Raw<uint8_t>(DType::kInt4, {3}, {0x7F, 0xF1}),
       Raw<uint8_t>(DType::kInt4, {3}, {0x77, 0x01}), 1, -8, 0},
      {Raw<uint8_t>(DType::kUint4, {3}, {0x77, 0xF1}),
       Raw<uint8_t>(DType::kUint4, {3}, {0x77, 0x01}), 0, 0, 0},
      {Raw<uint8_t>(DType::kInt2, {2}, {0x0B}),
       Raw<uint8_t>(DType::kInt2, {2}, {0x0A}), 1, 0, 1},
  };
  for (const auto& row : rows) {
    const Difference difference =
        Compare(row.got, row.want, {.rtol = 100, .atol = 100});
    SCOPED_TRACE(row.want.Signature());
    EXPECT_EQ(difference.out_of_limit, row.out_of_limit);
    EXPECT_EQ(difference.bitwise_equal, row.out_of_limit == 0);
    EXPECT_EQ(difference.worst_ratio, row.out_of_limit > 0 ? kInf : 0);
    EXPECT_FALSE(difference.ulp.has_value());
    ASSERT_TRUE(difference.errors.has_value());
    EXPECT_EQ(difference.errors->min_diff, row.min_diff);
    EXPECT_EQ(std::signbit(difference.errors->min_diff), row.min_diff < 0);
    EXPECT_EQ(difference.errors->max_diff, row.max_diff);
  }
}

TEST(DifferenceTest, UnusedBitsOfTheLastByteOfFloatsDoNotCount) {
  for (const DType type : {DType::kFloat4E2M1, DType::kFloat6E2M3}) {
    const Difference difference = Compare(Raw<uint8_t>(type, {1}, {0xC1}),
                                          Raw<uint8_t>(type, {1}, {0x01}), {});
    EXPECT_TRUE(difference.bitwise_equal) << type;
    EXPECT_EQ(difference.out_of_limit, 0) << type;
  }
}

TEST(DifferenceTest, WorstIntegerIsTheFarthest) {
  const Difference difference = Compare(Elements<int32_t>({1, 2, 9, 4}),
                                        Elements<int32_t>({1, 3, 3, 10}), {});
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
        Compare(Doubles({row.got}), Doubles({row.want}), row.tolerance);
    EXPECT_EQ(difference.worst_ratio, row.ratio) << row.got << " " << row.want;
    EXPECT_EQ(difference.worst_index, row.index) << row.got << " " << row.want;
    EXPECT_FALSE(difference.bitwise_equal) << row.got << " " << row.want;
  }
}

TEST(DifferenceTest, UlpsAreOfTheElementType) {
  const struct {
    Tensor got, want;
    double max, mean_signed, share_zero;
  } rows[] = {
      {Floats({1, 2}), Floats({1, 1}), 0x1p23, 0x1p22, 0.5},
      {Doubles({0.5, 1}), Doubles({1, 1}), 0x1p52, -0x1p51, 0.5},
      {Halves({0x3C00, 0x3C03}), Halves({0x3C01, 0x3C00}), 3, 1, 0},
      {Raw<uint8_t>(DType::kFloat8E8M0, {2}, {0x80, 0x10}),
       Raw<uint8_t>(DType::kFloat8E8M0, {2}, {0x7F, 0x10}), 1, 0.5, 0.5},
      // The least numbers below and above zero.
      {Words({0x80000001}), Words({1}), 2, -2, 0},
      {Doubles({-0x1p-1074}), Doubles({0x1p-1074}), 2, -2, 0},
      {Halves({0x8001}), Halves({1}), 2, -2, 0},
      {Brains({0x8001}), Brains({1}), 2, -2, 0},
      // 1 and -0.5 against 1 and 0.5.
      {Raw<uint8_t>(DType::kFloat4E2M1, {2}, {0x92}),
       Raw<uint8_t>(DType::kFloat4E2M1, {2}, {0x12}), 2, -1, 0.5},
  };
  for (const auto& row : rows) {
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
      Compare(Doubles({2e200, 3e200}), Doubles({2e200, 4e200}), {});
  EXPECT_DOUBLE_EQ(difference.errors->rmse, std::sqrt(0.5) * 1e200);
  EXPECT_DOUBLE_EQ(difference.errors->rel_l2, std::sqrt(1.0 / 20));
}

TEST(DifferenceTest, EqualBytesYieldZeros) {
  for (const Tensor& tensor :
       {Floats({kNan, kInf, 3}), Doubles({-0.0}), Halves({0x7C00, 1}),
        Elements<int32_t>({7}), Raw<float>(DType::kComplex64, {1}, {1, 2}),
        Raw<double>(DType::kComplex128, {2}, {1, kInf, 1, 2})}) {
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
  const struct {
    Tensor got, want;
  } rows[] = {
      {Floats({}), Floats({})},
      {Floats({kNan}), Floats({kNan})},
      {Floats({-kNan}), Floats({kNan})},
      {Doubles({kInf, 1}), Doubles({1, kNan})},
      {Raw<float>(DType::kComplex64, {1}, {1, kInf}),
       Raw<float>(DType::kComplex64, {1}, {1, kInf})},
      {Raw<double>(DType::kComplex128, {2}, {1, kInf, kNan, 2}),
       Raw<double>(DType::kComplex128, {2}, {1, kInf, kNan, 2})},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Difference difference = Compare(rows[i].got, rows[i].want, {});
    EXPECT_FALSE(difference.errors.has_value()) << i;
    EXPECT_FALSE(difference.ulp.has_value()) << i;
  }
}

// Kills: ratios of another arithmetic than the verdict's, or in other places.
TEST(DifferenceTest, RatiosAreThoseThatTheWorstIsTakenFrom) {
  const Tensor got = Floats({1, 2, kNan, 1, kNan});
  const Tensor want = Floats({1, 1, 1, 1.25F, kNan});
  EXPECT_EQ(RatiosOf(got, want, {.atol = 0.5}),
            (std::vector<double>{0, 2, kInf, 0.5, 0}));
  EXPECT_EQ(RatiosOf(Elements<int32_t>({4, 1}), Elements<int32_t>({1, 1}), {}),
            (std::vector<double>{3, 0}));
}

template <class Sum>
Errors ErrorsOf(const std::vector<double>& got,
                const std::vector<double>& want) {
  ErrorSums<Sum> sums;
  for (size_t i = 0; i < got.size(); ++i) {
    sums.Add(got[i], want[i], got[i] - want[i]);
  }
  return sums.Summarize();
}

TEST(ErrorSumsTest, NormsAreThoseOfTheFormulas) {
  using Numbers = std::vector<double>;
  const struct {
    Numbers got, want;
    double min_diff, max_diff, max_abs;
    std::optional<double> max_rel;
    double rmse, rel_l2, cosine;
  } rows[] = {
      {Numbers{3, 4}, Numbers{3, 4}, 0, 0, 0, 0, 0, 0, 1},
      {Numbers{0, 0}, Numbers{0, 0}, 0, 0, 0, 0, 0, 0, 1},
      // Signs: the larger difference is a negative one.
      {Numbers{-7, 4}, Numbers{-4, 3}, -3, 1, 3, 0.75, std::sqrt(5.0),
       std::sqrt(10.0) / 5, 40 / (std::sqrt(65.0) * 5)},
      {Numbers{1, 1}, Numbers{2, 2}, -1, -1, 1, 0.5, 1, 0.5, 1},
      {Numbers{-1, -1}, Numbers{2, 2}, -3, -3, 3, 1.5, 3, 1.5, -1},
      {Numbers{1, 0}, Numbers{0, 1}, -1, 1, 1, 1, 1, std::sqrt(2.0), 0},
      // Nothing is relative to zero.
      {Numbers{1, 2}, Numbers{0, 0}, 1, 2, 2, std::nullopt, std::sqrt(2.5),
       kInf, 0},
      {Numbers{1, 2.5}, Numbers{0, 2}, 0.5, 1, 1, 0.25, std::sqrt(0.625),
       std::sqrt(1.25) / 2, 5 / (std::sqrt(7.25) * 2)},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const auto& row = rows[i];
    const Errors errors = ErrorsOf<double>(row.got, row.want);
    EXPECT_EQ(errors.min_diff, row.min_diff) << i;
    EXPECT_EQ(errors.max_diff, row.max_diff) << i;
    EXPECT_EQ(errors.max_abs, row.max_abs) << i;
    EXPECT_EQ(errors.max_rel, row.max_rel) << i;
    EXPECT_DOUBLE_EQ(errors.rmse, row.rmse) << i;
    EXPECT_DOUBLE_EQ(errors.rel_l2, row.rel_l2) << i;
    EXPECT_DOUBLE_EQ(errors.cosine, row.cosine) << i;
  }
}

TEST(ErrorSumsTest, WideSumsHoldSquaresOfAnyDouble) {
  for (const double scale : {1e-200, 1.0, 1e200}) {
    const Errors errors = ErrorsOf<long double>({2 * scale, 0}, {scale, scale});
    EXPECT_DOUBLE_EQ(errors.rmse, scale) << scale;
    EXPECT_DOUBLE_EQ(errors.rel_l2, 1) << scale;
    EXPECT_DOUBLE_EQ(errors.cosine, std::sqrt(0.5)) << scale;
  }
}

}  // namespace
}  // namespace assay::metric
