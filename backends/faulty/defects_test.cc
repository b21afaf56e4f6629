// SPDX-License-Identifier: Apache-2.0
//
// Defects that plain data does not show, each where it must show, and right
// beside it where it must not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "backends/faulty/mutants.h"
#include "backends/faulty/run_rows.h"

namespace assay::faulty {
namespace {

using reference::D;
using reference::F;
using reference::Feed;
using reference::I;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kDenormal = 1e-40;

Feed Byte(Shape shape, std::vector<double> values) {
  return {DType::kInt8, std::move(shape), std::move(values)};
}

std::vector<double> Repeated(size_t count, double value) {
  return std::vector<double>(count, value);
}

const char* const kRelu = "g (float[N] x) => (float[N] y) { y = Relu(x) }";
const char* const kAdd =
    "g (float[N] a, float[N] b) => (float[N] y) { y = Add(a, b) }";
const char* const kMax =
    "g (float[N] a, float[N] b) => (float[N] y) { y = Max(a, b) }";
const char* const kMin =
    "g (float[N] a, float[N] b) => (float[N] y) { y = Min(a, b) }";
const char* const kDiv =
    "g (float[N] a, float[N] b) => (float[N] y) { y = Div(a, b) }";
const char* const kAddBytes =
    "g (int8[N] a, int8[N] b) => (int8[N] y) { y = Add(a, b) }";
const char* const kSubBytes =
    "g (int8[N] a, int8[N] b) => (int8[N] y) { y = Sub(a, b) }";
const char* const kMulBytes =
    "g (int8[N] a, int8[N] b) => (int8[N] y) { y = Mul(a, b) }";
const char* const kDivIntegers =
    "g (int64[N] a, int64[N] b) => (int64[N] y) { y = Div(a, b) }";
const char* const kModIntegers =
    "g (int64[N] a, int64[N] b) => (int64[N] y) { y = Mod(a, b) }";
const char* const kRound = "g (float[N] x) => (float[N] y) { y = Round(x) }";
const char* const kSumAll =
    "g (float[N] x) => (float[1] y) { y = ReduceSum(x) }";
const char* const kSumDoubles =
    "g (double[N] x) => (double[1] y) { y = ReduceSum(x) }";
const char* const kMatMul =
    "g (float[M,K] a, float[K,N] b) => (float[M,N] y) { y = MatMul(a, b) }";
const char* const kMatMulDoubles =
    "g (double[M,K] a, double[K,N] b) => (double[M,N] y) { y = MatMul(a, b) }";
const char* const kToHalf =
    "g (double[N] x) => (float16[N] y) { y = Cast<to = 10>(x) }";
const char* const kToFloat8 =
    "g (float[N] x) => (float8e5m2[N] y) { y = Cast<to = 19>(x) }";
const char* const kToInteger =
    "g (float[N] x) => (int32[N] y) { y = Cast<to = 6>(x) }";
const char* const kToByte =
    "g (int64[N] x) => (int8[N] y) { y = Cast<to = 3>(x) }";
const char* const kConv =
    "g (float[1,1,N] x, float[1,1,2] w) => (float[1,1,M] y) { y = Conv(x, w) }";
const char* const kArgMax = "g (float[N] x) => (int64[1] y) { y = ArgMax(x) }";
const char* const kTopK =
    "g (float[N] x, int64[1] k) => (float[K] v, int64[K] i) "
    "{ v, i = TopK(x, k) }";

struct DefectRow {
  const char* mutant;
  const char* graph;
  std::vector<Feed> shown;   // the mutant's outputs differ
  std::vector<Feed> hidden;  // they do not
};

std::vector<DefectRow> Nonfinite() {
  return {
      {"max_ignores_nan",
       kMax,
       {F({1}, {kNan}), F({1}, {1})},
       {F({1}, {2}), F({1}, {1})}},
      {"min_ignores_nan",
       kMin,
       {F({1}, {kNan}), F({1}, {1})},
       {F({1}, {2}), F({1}, {1})}},
      {"relu_nan_to_zero", kRelu, {F({2}, {kNan, 1})}, {F({2}, {-1, 1})}},
      {"denormal_inputs_flushed",
       kAdd,
       {F({1}, {kDenormal}), F({1}, {kDenormal})},
       {F({1}, {1e-30}), F({1}, {1e-30})}},
      {"denormal_results_flushed",
       kAdd,
       {F({1}, {kDenormal}), F({1}, {0})},
       {F({1}, {1e-30}), F({1}, {0})}},
      {"cast_denormals_flushed", kToHalf, {D({1}, {1e-6})}, {D({1}, {1e-3})}},
      {"zero_sign_lost",
       kDiv,
       {F({1}, {-0.0}), F({1}, {1})},
       {F({1}, {-1}), F({1}, {1})}},
      {"rounded_zero_sign_lost", kRound, {F({1}, {-0.3})}, {F({1}, {-1})}},
      {"div_by_zero_gives_largest",
       kDiv,
       {F({1}, {1}), F({1}, {0})},
       {F({1}, {1}), F({1}, {2})}},
      {"cast_half_overflows_to_largest",
       kToHalf,
       {D({1}, {1e6})},
       {D({1}, {1e4})}},
  };
}

std::vector<DefectRow> Integers() {
  const Feed seven = I({2}, {-7, 7});
  return {
      {"add_saturates",
       kAddBytes,
       {Byte({1}, {100}), Byte({1}, {100})},
       {Byte({1}, {27}), Byte({1}, {100})}},
      {"sub_saturates",
       kSubBytes,
       {Byte({1}, {-100}), Byte({1}, {100})},
       {Byte({1}, {-28}), Byte({1}, {100})}},
      {"mul_saturates",
       kMulBytes,
       {Byte({1}, {16}), Byte({1}, {8})},
       {Byte({1}, {16}), Byte({1}, {-8})}},
      {"div_rounds_down",
       kDivIntegers,
       {seven, I({2}, {2, 2})},
       {seven, I({2}, {7, 2})}},
      {"mod_sign_of_dividend",
       kModIntegers,
       {seven, I({2}, {3, 3})},
       {I({1}, {7}), I({1}, {3})}},
      {"cast_integers_saturate", kToByte, {I({1}, {300})}, {I({1}, {-128})}},
  };
}

std::vector<DefectRow> Roundings() {
  return {
      {"round_half_away", kRound, {F({1}, {2.5})}, {F({2}, {1.5, 2.6})}},
      {"round_half_up", kRound, {F({1}, {2.5})}, {F({2}, {1.5, 2.4})}},
      {"cast_to_integer_rounds",
       kToInteger,
       {F({1}, {1.7})},
       {F({2}, {1.3, -2})}},
      {"cast_to_narrow_truncates",
       kToHalf,
       {D({1}, {1 + 0.0009})},
       {D({1}, {1 + 0.0001})}},
      // Just above the tie between 1 and the next float16.
      {"cast_rounds_twice",
       kToHalf,
       {D({1}, {1 + 0x1p-11 + 0x1p-40})},
       {D({1}, {1 + 0x1p-11 + 0x1p-20})}},
      {"cast_to_float8_rounds_twice",
       kToFloat8,
       {F({1}, {1.125F + 0x1p-20F})},
       {F({1}, {1.2F})}},
  };
}

std::vector<DefectRow> Sums() {
  return {
      {"reducesum_sums_in_half",
       kSumAll,
       {F({4096}, Repeated(4096, 1))},
       {F({2048}, Repeated(2048, 1))}},
      {"matmul_sums_in_half",
       kMatMul,
       {F({1, 4096}, Repeated(4096, 1)), F({4096, 1}, Repeated(4096, 1))},
       {F({1, 16}, Repeated(16, 1)), F({16, 1}, Repeated(16, 1))}},
      {"matmul_sums_in_bfloat16",
       kMatMul,
       {F({1, 512}, Repeated(512, 1)), F({512, 1}, Repeated(512, 1))},
       {F({1, 16}, Repeated(16, 1)), F({16, 1}, Repeated(16, 1))}},
      {"matmul_reads_tf32",
       kMatMul,
       {F({1, 1}, {2049}), F({1, 1}, {1})},
       {F({1, 1}, {2048}), F({1, 1}, {1})}},
      {"conv_reads_bfloat16",
       kConv,
       {F({1, 1, 2}, {257, 1}), F({1, 1, 2}, {1, 1})},
       {F({1, 1, 2}, {255, 1}), F({1, 1, 2}, {1, 1})}},
      {"reducesum_double_in_single",
       kSumDoubles,
       {D({1}, {1 + 0x1p-40})},
       {D({1}, {1 + 0x1p-20})}},
      {"matmul_double_in_single",
       kMatMulDoubles,
       {D({1, 1}, {1 + 0x1p-40}), D({1, 1}, {1})},
       {D({1, 1}, {1.5}), D({1, 1}, {1})}},
      {"reduce_wrong_beyond_1024",
       kSumAll,
       {F({1025}, Repeated(1025, 1))},
       {F({1024}, Repeated(1024, 1))}},
      {"unary_wrong_beyond_1024",
       kRelu,
       {F({1025}, Repeated(1025, 1))},
       {F({1024}, Repeated(1024, 1))}},
      {"unary_tail_of_8_unwritten",
       kRelu,
       {F({9}, Repeated(9, 1))},
       {F({16}, Repeated(16, 1))}},
      {"elementwise_tail_of_4_unwritten",
       kAdd,
       {F({5}, Repeated(5, 1)), F({5}, Repeated(5, 1))},
       {F({8}, Repeated(8, 1)), F({8}, Repeated(8, 1))}},
      {"matmul_odd_column_unwritten",
       kMatMul,
       {F({1, 1}, {1}), F({1, 3}, {1, 2, 3})},
       {F({1, 1}, {1}), F({1, 2}, {1, 2})}},
  };
}

std::vector<DefectRow> Choices() {
  return {
      {"argmax_last_of_ties",
       kArgMax,
       {F({3}, {1, 2, 2})},
       {F({3}, {1, 2, 3})}},
      {"topk_last_of_ties",
       kTopK,
       {F({3}, {2, 1, 2}), I({1}, {1})},
       {F({3}, {2, 1, 3}), I({1}, {2})}},
      {"conv_kernel_flipped",
       kConv,
       {F({1, 1, 2}, {1, 2}), F({1, 1, 2}, {3, 4})},
       {F({1, 1, 2}, {1, 2}), F({1, 1, 2}, {3, 3})}},
      {"matmul_second_transposed",
       kMatMul,
       {F({1, 2}, {1, 2}), F({2, 2}, {1, 2, 3, 4})},
       {F({1, 2}, {1, 2}), F({2, 2}, {1, 2, 2, 4})}},
  };
}

bool Differs(const char* mutant, const char* graph,
             const std::vector<Feed>& feeds) {
  const auto right = RunWith("", graph, feeds);
  const auto wrong = RunWith(mutant, graph, feeds);
  EXPECT_TRUE(right.ok()) << mutant << right.status().ToString();
  EXPECT_TRUE(wrong.ok()) << mutant << wrong.status().ToString();
  return right.ok() && wrong.ok() && !SameBits(*right, *wrong);
}

TEST(Defects, ShowWhereTheyLieAndNowhereElse) {
  for (const auto& table :
       {Nonfinite(), Integers(), Roundings(), Sums(), Choices()}) {
    for (const DefectRow& row : table) {
      EXPECT_TRUE(Differs(row.mutant, row.graph, row.shown)) << row.mutant;
      EXPECT_FALSE(Differs(row.mutant, row.graph, row.hidden)) << row.mutant;
    }
  }
}

// Before opset 13 the default axis was 1, and all behind it one axis.
TEST(Defects, OfTheOpsetShowInOldModels) {
  const char* const graph =
      "g (float[1,2,2] x) => (float[1,2,2] y) { y = Softmax(x) }";
  const std::vector<Feed> feeds = {F({1, 2, 2}, {1, 2, 3, 4})};
  const auto run = [&](std::string_view mutant, int opset) {
    auto outputs = RunWith(mutant, graph, feeds, opset);
    EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
    return outputs.ok() ? *outputs : std::vector<Value>();
  };
  EXPECT_FALSE(SameBits(run("", 11), run("softmax_opset_ignored", 11)));
  EXPECT_TRUE(SameBits(run("", 13), run("softmax_opset_ignored", 13)));
}

TEST(Defects, OfDoublesShowInInitializers) {
  const std::string of_doubles =
      "g (double[1] x) => (double[1] y) <double[1] c = {2.5}> "
      "{ y = Add(x, c) }";
  const std::string of_floats =
      "g (float[1] x) => (float[1] y) <float[1] c = {2.5}> { y = Add(x, c) }";
  EXPECT_TRUE(
      Differs("double_initializers_lost", of_doubles.c_str(), {D({1}, {1})}));
  EXPECT_FALSE(
      Differs("double_initializers_lost", of_floats.c_str(), {F({1}, {1})}));
}

}  // namespace
}  // namespace assay::faulty
