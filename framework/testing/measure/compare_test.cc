// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/compare.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "framework/testing/support/tensors_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

using testing::ElementsAre;

std::vector<OutputMetrics> Compared(const Value& got, const Value& want,
                                    double rtol = 0, double atol = 0) {
  OutputMetrics entry;
  entry.output_name = "y";
  entry.limit.rtol = rtol;
  entry.limit.atol = atol;
  std::vector<OutputMetrics> metrics;
  CompareValues(got, want, entry, metrics);
  return metrics;
}

TEST(ElementTextTest, IsTheShortestThatReadsBack) {
  const struct {
    Tensor tensor;
    std::string text;
  } rows[] = {
      {Floats({0.1F}), "0.1"},
      {Floats({-0.0F}), "-0"},
      {Floats({16777216}), "16777216"},
      {Floats({1e20F}), "1e+20"},
      {Floats({-kNan}), "nan"},
      {Floats({-kInf}), "-inf"},
      {Raw<double>(DType::kFloat64, {1}, {0.1 + 0.2}), "0.30000000000000004"},
      {Raw<uint16_t>(DType::kFloat16, {1}, {0x3555}), "0.33325195"},
      {Raw<uint16_t>(DType::kBFloat16, {1}, {0x4049}), "3.140625"},
      {Raw<uint8_t>(DType::kFloat8E4M3FN, {1}, {0xFE}), "-448"},
      {Raw<uint8_t>(DType::kFloat4E2M1, {1}, {0x01}), "0.5"},
      {Raw<int64_t>(DType::kInt64, {1}, {INT64_MIN}), "-9223372036854775808"},
      {Raw<uint64_t>(DType::kUint64, {1}, {UINT64_MAX}),
       "18446744073709551615"},
      {Raw<int8_t>(DType::kInt8, {1}, {-7}), "-7"},
      {Raw<uint8_t>(DType::kInt4, {1}, {0x0F}), "-1"},
      {Raw<uint8_t>(DType::kUint4, {1}, {0x0F}), "15"},
      {Raw<uint8_t>(DType::kBool, {1}, {1}), "true"},
      {Raw<uint8_t>(DType::kBool, {1}, {0}), "false"},
      {Raw<uint8_t>(DType::kBool, {1}, {2}), "2"},
      {Raw<float>(DType::kComplex64, {1}, {1, -2.5}), "1-2.5j"},
      {Raw<double>(DType::kComplex128, {1}, {-0.5, 2}), "-0.5+2j"},
      {Strings({"short"}), "short"},
      {Strings({std::string(40, 'a')}), std::string(40, 'a')},
      {Strings({std::string(41, 'a')}), std::string(40, 'a') + "..."},
      // Two bytes each: cut between characters, not within one.
      {Strings({"\xC3\xA9" + std::string(40, 'a')}),
       "\xC3\xA9" + std::string(39, 'a') + "..."},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ElementText(row.tensor, 0), row.text);
  }
}

TEST(CompareTest, NumbersOfAFloatOutput) {
  const auto metrics =
      Compared(Floats({1, 3.5F, -0.0F, 2.5F}), Floats({2, 3, 0, 2.5F}), 0.5, 1);
  ASSERT_EQ(metrics.size(), 1U);
  const OutputMetrics& m = metrics[0];
  EXPECT_EQ(m.dtype, "float32");
  EXPECT_EQ(m.shape, "[4]");
  EXPECT_EQ(m.n_elem, 4);
  EXPECT_EQ(m.mismatch, "");
  EXPECT_EQ(m.sign_of_zero_mismatch, 1);
  EXPECT_EQ(m.out_of_limit, 0);
  EXPECT_EQ(m.min_diff, -1);  // signed: got - want
  EXPECT_EQ(m.max_diff, 0.5);
  EXPECT_EQ(m.max_abs_err, 1);
  EXPECT_EQ(m.max_rel_err, 0.5);
  EXPECT_DOUBLE_EQ(*m.rmse, std::sqrt(1.25 / 4));
  EXPECT_DOUBLE_EQ(*m.rel_l2, std::sqrt(1.25 / 19.25));
  EXPECT_DOUBLE_EQ(*m.cosine, 18.75 / std::sqrt(19.5 * 19.25));
  // From 2 to 1 is a binade of 2^23 steps, from 3 to 3.5 a quarter of one.
  EXPECT_EQ(m.max_ulp, 0x1p23);
  EXPECT_EQ(m.p50_ulp, 0);
  EXPECT_EQ(m.p99_ulp, 0x1p23);
  EXPECT_EQ(m.p999_ulp, 0x1p23);
  EXPECT_EQ(m.mean_signed_ulp, (-0x1p23 + 0x1p21) / 4);
  EXPECT_EQ(m.share_correctly_rounded, 0.5);
  // 1 / (1 + 0.5 * 2), and then 0.5 / (1 + 0.5 * 3)
  EXPECT_EQ(m.worst_index, 0);
  EXPECT_EQ(m.worst_got, "1");
  EXPECT_EQ(m.worst_want, "2");
  EXPECT_EQ(m.headroom, 0.5);
  EXPECT_FALSE(m.bitwise_equal);
}

TEST(CompareTest, HeadroomSaysHowFarTheLimitIs) {
  const auto inf = -std::numeric_limits<double>::infinity();
  const struct {
    Value got, want;
    std::optional<double> headroom;
    int64_t worst_index;
  } rows[] = {
      {Floats({1}), Floats({1}), 1, -1},
      {Floats({0.0F, -0.0F}), Floats({-0.0F, 0.0F}), 1, -1},
      {Floats({1.25F}), Floats({1}), 0.5, 0},
      {Floats({1, 1.5F}), Floats({1, 1}), 0, 1},
      {Floats({3, 2}), Floats({2, 1}), -1, 1},
      {Floats({5, kNan}), Floats({1, 1}), inf, 1},
      {Floats({kInf, 5}), Floats({kInf, 5}), 1, -1},
      {Strings({"a", "b"}), Strings({"a", "c"}), inf, 1},
      {Strings({"a"}), Strings({"a"}), 1, -1},
      {Raw<uint8_t>(DType::kUint8, {2}, {4, 9}),
       Raw<uint8_t>(DType::kUint8, {2}, {4, 8}), inf, 1},
      {Raw<uint8_t>(DType::kUint8, {1}, {4}),
       Raw<uint8_t>(DType::kUint8, {1}, {4}), 1, -1},
      {Floats({}), Floats({}), std::nullopt, -1},
      {Strings({}), Strings({}), std::nullopt, -1},
      {Floats({1}), Strings({"1"}), std::nullopt, -1},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const auto metrics = Compared(rows[i].got, rows[i].want, 0.5);
    ASSERT_EQ(metrics.size(), 1U) << i;
    EXPECT_EQ(metrics[0].headroom, rows[i].headroom) << i;
    EXPECT_EQ(metrics[0].worst_index, rows[i].worst_index) << i;
    EXPECT_EQ(metrics[0].worst_got.empty(), rows[i].worst_index < 0) << i;
  }
}

TEST(CompareTest, AMismatchNamesBothSidesAndLeavesNoNumbers) {
  const auto metrics = Compared(Floats({1, 2}), Floats({1}));
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].mismatch, "found float32[2], wanted float32[1]");
  EXPECT_EQ(metrics[0].shape, "[2]");
  EXPECT_EQ(metrics[0].max_abs_err, std::nullopt);
  EXPECT_EQ(metrics[0].headroom, std::nullopt);
  EXPECT_FALSE(metrics[0].bitwise_equal);
}

std::vector<std::string> NamesOf(const Value& value) {
  std::vector<std::string> names;
  for (const OutputMetrics& one : Compared(value, value)) {
    names.push_back(one.output_name);
  }
  return names;
}

TEST(CompareTest, NestedValuesAreFlattenedUnderTheirNames) {
  const ValueType type = ValueType::OfTensor(DType::kFloat32, {});
  const Value one = Floats({1});
  const Value inner = Sequence{type, {one, one}};
  const Value held = Optional{type, std::make_shared<const Value>(inner)};
  const Value mapped = Map{Strings({"k", "l"}), {one, inner}};
  const Value counted = Map{Raw<int64_t>(DType::kInt64, {1}, {7}), {one}};
  const SparseTensor sparse = {
      Floats({1}), Raw<int64_t>(DType::kInt64, {1}, {0}), {2}};
  EXPECT_THAT(NamesOf(one), ElementsAre("y"));
  EXPECT_THAT(NamesOf(inner), ElementsAre("y[0]", "y[1]"));
  EXPECT_THAT(NamesOf(Sequence{type, {inner, one}}),
              ElementsAre("y[0][0]", "y[0][1]", "y[1]"));
  EXPECT_THAT(NamesOf(held), ElementsAre("y[0]", "y[1]"));
  EXPECT_THAT(NamesOf(mapped), ElementsAre("y{k}", "y{l}[0]", "y{l}[1]"));
  EXPECT_THAT(NamesOf(counted), ElementsAre("y{7}"));
  EXPECT_THAT(NamesOf(sparse), ElementsAre("y", "y.indices"));
}

TEST(CompareTest, EmptyValuesAreOneEntryOfTheirType) {
  const ValueType type = ValueType::OfTensor(DType::kFloat32, {Dim(2)});
  for (const auto& [value, name] : std::vector<std::pair<Value, std::string>>{
           {Sequence{type, {}}, "seq(float32[2])"},
           {Optional{type, nullptr}, "optional(float32[2])"}}) {
    const auto metrics = Compared(value, value);
    ASSERT_EQ(metrics.size(), 1U) << name;
    EXPECT_EQ(metrics[0].dtype, name);
    EXPECT_EQ(metrics[0].shape, "[]") << name;
    EXPECT_EQ(metrics[0].n_elem, 0) << name;
    EXPECT_TRUE(metrics[0].bitwise_equal) << name;
  }
}

// Kills: a pass that pays for what only a fail shows; an edge that falls into
// the next bin; elements in another order than by ratio, then by place.
TEST(CompareTest, AFailHasItsWorstElementsAndTheSpreadOfItsErrors) {
  const struct {
    std::string name;
    Value got, want;
    double atol;
    std::string worst, bins;
  } rows[] = {
      {"pass", Floats({1, 2}), Floats({1, 3}), 1, "", ""},
      {"edges", Floats({0, 1 / 16.F, 0.125F, 0.25F, 0.5F, 1, 2, 4, 8, 16, 17}),
       Floats(std::vector<float>(11)), 1,
       "10:0:17 9:0:16 8:0:8 7:0:4 6:0:2 5:0:1 4:0:0.5 3:0:0.25",
       "1 1 1 1 1 1 1 1 1 1 1"},
      {"ties and specials", Floats({3, kNan, 3, 1, kNan}),
       Floats({1, 1, 1, 1, kNan}), 1, "1:1:nan 0:1:3 2:1:3",
       "2 0 0 0 0 0 2 0 0 0 1"},
      {"no limit", Floats({1, 2}), Floats({1, 3}), 0, "1:3:2",
       "1 0 0 0 0 0 0 0 0 0 1"},
      {"integers", Raw<int32_t>(DType::kInt32, {3}, {1, 5, 9}),
       Raw<int32_t>(DType::kInt32, {3}, {1, 6, 7}), 100, "2:7:9 1:6:5",
       "1 0 0 0 0 0 0 0 0 0 2"},
      {"strings", Strings({"a b"}), Strings({"c"}), 1, "", ""},
      {"another shape", Floats({1}), Floats({1, 2}), 1, "", ""},
  };
  for (const auto& row : rows) {
    const OutputMetrics m = Compared(row.got, row.want, 0, row.atol).at(0);
    std::vector<std::string> worst;
    for (const auto& [index, want, got] : m.worst) {
      worst.push_back(StrCat(index, ":", want, ":", got));
    }
    EXPECT_EQ(Joined(worst, " "), row.worst) << row.name;
    EXPECT_EQ(Joined(m.error_bins, " "), row.bins) << row.name;
  }
}

}  // namespace
}  // namespace assay::measure
