// SPDX-License-Identifier: Apache-2.0
//
// Defects that plain data does not show, each where it must show, and right
// beside it where it must not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/faulty/faulty_fixture.h"
#include "backends/faulty/mutants.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::faulty {
namespace {

using reference::D;
using reference::F;
using reference::Feed;
using reference::I;

constexpr double kDenormal = 1e-40;

/// A feed of one element for each number.
std::vector<Feed> Each(const std::vector<double>& numbers,
                       DType type = DType::kFloat32) {
  std::vector<Feed> feeds;
  for (const double number : numbers) feeds.push_back({type, {1}, {number}});
  return feeds;
}

/// One feed with all the numbers along its one axis.
std::vector<Feed> Along(const std::vector<double>& numbers,
                        DType type = DType::kFloat32) {
  return {{type, {std::ssize(numbers)}, numbers}};
}

/// A graph of one operator with `inputs` inputs, all of one type.
std::string Elementwise(const std::string& type, const std::string& op,
                        int inputs) {
  const std::string more = inputs == 2 ? StrCat(", ", type, "[N] b") : "";
  return StrCat("g (", type, "[N] a", more, ") => (", type, "[N] y) { y = ", op,
                inputs == 2 ? "(a, b) }" : "(a) }");
}

std::vector<double> Repeated(size_t count, double value) {
  return std::vector<double>(count, value);
}

const char* const kSumAll =
    "g (float[N] x) => (float[1] y) { y = ReduceSum(x) }";
const char* const kMatMul =
    "g (float[M,K] a, float[K,N] b) => (float[M,N] y) { y = MatMul(a, b) }";
const char* const kToHalf =
    "g (double[N] x) => (float16[N] y) { y = Cast<to = 10>(x) }";
const char* const kConv =
    "g (float[1,1,N] x, float[1,1,2] w) => (float[1,1,M] y) { y = Conv(x, w) }";

const char* const kStump =
    "g (float[1,1] x) => (float[1,1] y) "
    "{ y = ai.onnx.ml.TreeEnsembleRegressor<nodes_treeids = [0, 0, 0], "
    "nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], "
    "nodes_modes = [\"BRANCH_LT\", \"LEAF\", \"LEAF\"], "
    "nodes_values = [2.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 0], "
    "nodes_falsenodeids = [2, 0, 0], "
    "nodes_missing_value_tracks_true = [1, 0, 0], "
    "target_treeids = [0, 0], target_nodeids = [1, 2], "
    "target_ids = [0, 0], target_weights = [10.0, 20.0], n_targets = 1>(x) }";
const char* const kAdam =
    "g (double r, int64 t, double[1] x, double[1] g, double[1] v, "
    "double[1] h) => (double[1] a, double[1] b, double[1] c) "
    "{ a, b, c = ai.onnx.preview.training.Adam"
    "<alpha = 0.5, beta = 0.25, epsilon = 1.0>(r, t, x, g, v, h) }";
const char* const kLoss =
    "g (float[2,2] x, int64[2] t, float[2] w) => (float y) "
    "{ y = NegativeLogLikelihoodLoss<ignore_index = -1>(x, t, w) }";

struct DefectRow {
  const char* mutant;
  std::string graph;
  std::vector<Feed> shown;   // the mutant's outputs differ
  std::vector<Feed> hidden;  // they do not
};

std::vector<DefectRow> Nonfinite() {
  return {
      {"max_ignores_nan", Elementwise("float", "Max", 2), Each({kNan, 1}),
       Each({2, 1})},
      {"min_ignores_nan", Elementwise("float", "Min", 2), Each({kNan, 1}),
       Each({2, 1})},
      {"relu_nan_to_zero", Elementwise("float", "Relu", 1), Along({kNan, 1}),
       Along({-1, 1})},
      {"denormal_inputs_flushed", Elementwise("float", "Add", 2),
       Each({kDenormal, kDenormal}), Each({1e-30, 1e-30})},
      {"denormal_results_flushed", Elementwise("float", "Add", 2),
       Each({kDenormal, 0}), Each({1e-30, 0})},
      {"cast_denormals_flushed", kToHalf, Along({1e-6}, DType::kFloat64),
       Along({1e-3}, DType::kFloat64)},
      {"zero_sign_lost", Elementwise("float", "Div", 2), Each({-0.0, 1}),
       Each({-1, 1})},
      {"rounded_zero_sign_lost", Elementwise("float", "Round", 1), Each({-0.3}),
       Each({-1})},
      {"div_by_zero_gives_largest", Elementwise("float", "Div", 2),
       Each({1, 0}), Each({1, 2})},
      {"cast_half_overflows_to_largest", kToHalf, Along({1e6}, DType::kFloat64),
       Along({1e4}, DType::kFloat64)},
  };
}

std::vector<DefectRow> Integers() {
  const Feed seven = I({2}, {-7, 7});
  return {
      {"add_saturates", Elementwise("int8", "Add", 2),
       Each({100, 100}, DType::kInt8), Each({27, 100}, DType::kInt8)},
      {"sub_saturates", Elementwise("int8", "Sub", 2),
       Each({-100, 100}, DType::kInt8), Each({-28, 100}, DType::kInt8)},
      {"mul_saturates", Elementwise("int8", "Mul", 2),
       Each({16, 8}, DType::kInt8), Each({16, -8}, DType::kInt8)},
      {"div_rounds_down",
       Elementwise("int64", "Div", 2),
       {seven, I({2}, {2, 2})},
       {seven, I({2}, {7, 2})}},
      {"mod_sign_of_dividend",
       Elementwise("int64", "Mod", 2),
       {seven, I({2}, {3, 3})},
       {I({1}, {7}), I({1}, {3})}},
      {"cast_integers_saturate",
       "g (int64[N] x) => (int8[N] y) { y = Cast<to = 3>(x) }",
       Along({300}, DType::kInt64), Along({-128}, DType::kInt64)},
  };
}

std::vector<DefectRow> Roundings() {
  return {
      {"round_half_away", Elementwise("float", "Round", 1), Along({2.5}),
       Along({1.5, 2.6})},
      {"round_half_up", Elementwise("float", "Round", 1), Along({2.5}),
       Along({1.5, 2.4})},
      {"cast_to_integer_rounds",
       "g (float[N] x) => (int32[N] y) { y = Cast<to = 6>(x) }", Along({1.7}),
       Along({1.3, -2})},
      {"cast_to_narrow_truncates", kToHalf,
       Along({1 + 0.0009}, DType::kFloat64),
       Along({1 + 0.0001}, DType::kFloat64)},
      // Just above the tie between 1 and the next float16.
      {"cast_rounds_twice", kToHalf,
       Along({1 + 0x1p-11 + 0x1p-40}, DType::kFloat64),
       Along({1 + 0x1p-11 + 0x1p-20}, DType::kFloat64)},
      {"cast_to_float8_rounds_twice",
       "g (float[N] x) => (float8e5m2[N] y) { y = Cast<to = 19>(x) }",
       Along({1.125F + 0x1p-20F}), Along({1.2F})},
  };
}

std::vector<DefectRow> Sums() {
  return {
      {"reducesum_sums_in_half", kSumAll, Along(Repeated(4096, 1)),
       Along(Repeated(2048, 1))},
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
       "g (double[N] x) => (double[1] y) { y = ReduceSum(x) }",
       Along({1 + 0x1p-40}, DType::kFloat64),
       Along({1 + 0x1p-20}, DType::kFloat64)},
      {"matmul_double_in_single",
       "g (double[M,K] a, double[K,N] b) => (double[M,N] y) { y = MatMul(a, b) "
       "}",
       {D({1, 1}, {1 + 0x1p-40}), D({1, 1}, {1})},
       {D({1, 1}, {1.5}), D({1, 1}, {1})}},
      {"reduce_wrong_beyond_1024", kSumAll, Along(Repeated(1025, 1)),
       Along(Repeated(1024, 1))},
      {"unary_wrong_beyond_1024", Elementwise("float", "Relu", 1),
       Along(Repeated(1025, 1)), Along(Repeated(1024, 1))},
      {"unary_tail_of_8_unwritten", Elementwise("float", "Relu", 1),
       Along(Repeated(9, 1)), Along(Repeated(16, 1))},
      {"elementwise_tail_of_4_unwritten",
       Elementwise("float", "Add", 2),
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
       "g (float[N] x) => (int64[1] y) { y = ArgMax(x) }", Along({1, 2, 2}),
       Along({1, 2, 3})},
      {"topk_last_of_ties",
       "g (float[N] x, int64[1] k) => (float[K] v, int64[K] i) { v, i = "
       "TopK(x, k) }",
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

std::vector<DefectRow> Learned() {
  const Feed nan = F({1, 1}, {kNan});
  return {
      {"treeregressor_less_takes_equal",
       kStump,
       {F({1, 1}, {2})},
       {F({1, 1}, {1})}},
      {"ignore:TreeEnsembleRegressor.nodes_missing_value_tracks_true",
       kStump,
       {nan},
       {F({1, 1}, {2})}},
      {"softmax_zero_taken_for_softmax",
       "g (float[1,2] x) => (float[1,2] y) { y = "
       "ai.onnx.ml.LinearRegressor<targets = 2, coefficients = [1.0, 0.0, 0.0, "
       "1.0], post_transform = \"SOFTMAX_ZERO\">(x) }",
       {F({1, 2}, {0, 3})},
       {F({1, 2}, {1, 3})}},
      {"linear_coefficients_transposed",
       "g (float[1,2] x) => (float[1,2] y) { y = "
       "ai.onnx.ml.LinearRegressor<targets = 2, coefficients = [1.0, 2.0, 3.0, "
       "1.0]>(x) }",
       {F({1, 2}, {1, 1})},
       {F({1, 2}, {0, 0})}},
      {"binarizer_takes_equal",
       "g (float[N] x) => (float[N] y) { y = ai.onnx.ml.Binarizer<threshold = "
       "0.5>(x) }",
       Along({0.5}), Along({0.25, 0.75})},
      {"imputer_misses_nan",
       "g (float[1,2] x) => (float[1,2] y) { y = "
       "ai.onnx.ml.Imputer<imputed_value_floats = [7.0], replaced_value_float "
       "= nan>(x) }",
       {F({1, 2}, {1, kNan})},
       {F({1, 2}, {1, 2})}},
  };
}

// R, T, X, G, V and H.
std::vector<Feed> Adapting(double t, double x, double h) {
  return {D({}, {1}),  I({}, {t}),  D({1}, {x}),
          D({1}, {2}), D({1}, {4}), D({1}, {h})};
}

std::vector<Feed> WithoutStep() {
  std::vector<Feed> feeds = Adapting(0, 1, 4);
  feeds[0] = D({}, {0});
  return feeds;
}

std::vector<Feed> Moving(double t) {
  return {D({}, {1}), I({}, {t}), D({1}, {1}), D({1}, {2}), D({1}, {4})};
}

std::vector<DefectRow> Updates() {
  const Feed scores = F({2, 2}, {-1, -2, -3, -4});
  const Feed weights = F({2}, {1, 3});
  const Feed ones = F({2}, {1, 1});
  return {
      {"adam_bias_uncorrected", kAdam, Adapting(3, 1, 4), Adapting(0, 1, 4)},
      // Without a step there is no difference.
      {"adam_epsilon_inside_root", kAdam, Adapting(0, 1, 4), WithoutStep()},
      {"optimizer_default_epsilon",
       "g (double r, int64 t, double[1] x, double[1] g, double[1] v, double[1] "
       "h) => (double[1] a, double[1] b, double[1] c) { a, b, c = "
       "ai.onnx.preview.training.Adam(r, t, x, g, v, h) }",
       Adapting(0, 1, 4), WithoutStep()},
      {"momentum_first_step_dampened",
       "g (double r, int64 t, double[1] x, double[1] g, double[1] v) => "
       "(double[1] a, double[1] b) { a, b = "
       "ai.onnx.preview.training.Momentum<alpha = 0.5, beta = 0.25, "
       "norm_coefficient = 0.0, mode = \"standard\">(r, t, x, g, v) }",
       Moving(0), Moving(1)},
      {"loss_mean_unweighted",
       kLoss,
       {scores, I({2}, {0, 1}), weights},
       {scores, I({2}, {0, 1}), ones}},
      {"loss_mean_counts_ignored",
       kLoss,
       {scores, I({2}, {0, -1}), weights},
       {scores, I({2}, {0, 1}), weights}},
      {"loss_ignore_index_ignored",
       kLoss,
       {scores, I({2}, {0, -1}), weights},
       {scores, I({2}, {0, 1}), weights}},
  };
}

std::vector<DefectRow> Reaches() {
  const Feed zeros = F({1, 1, 2, 1}, {0, 0});
  const Feed values = F({1, 1, 2, 1}, {1, 2});
  const Feed three = F({1, 1, 3, 1}, {0, 0, 0});
  const Feed keys = F({1, 2, 2, 1}, {0, 0, 0, 0});
  const Feed heads = F({1, 2, 2, 1}, {1, 1, 2, 2});
  return {
      {"attention_causal_off_by_one",
       "g (float[1,1,Q,1] q, float[1,1,K,1] k, float[1,1,K,1] v) => "
       "(float[1,1,Q,1] y) { y = Attention<is_causal = 1>(q, k, v) }",
       {zeros, zeros, values},
       {F({1, 1, 1, 1}, {0}), F({1, 1, 1, 1}, {0}), F({1, 1, 1, 1}, {3})}},
      {"attention_window_off_by_one",
       "g (float[1,1,Q,1] q, float[1,1,K,1] k, float[1,1,K,1] v) => "
       "(float[1,1,Q,1] y) { y = Attention<left_window_size = 1>(q, k, v) }",
       {three, three, F({1, 1, 3, 1}, {1, 2, 4})},
       {zeros, zeros, values}},
      {"attention_groups_interleaved",
       "g (float[1,H,1,1] q, float[1,2,2,1] k, float[1,2,2,1] v) => "
       "(float[1,H,1,1] y) { y = Attention(q, k, v) }",
       {F({1, 4, 1, 1}, {0, 0, 0, 0}), keys, heads},
       {F({1, 2, 1, 1}, {0, 0}), keys, heads}},
      {"dft_inverse_unscaled",
       "g (float[1,N,2] x) => (float[1,N,2] y) { y = DFT<inverse = 1>(x) }",
       {F({1, 2, 2}, {1, 0, 2, 0})},
       {F({1, 1, 2}, {1, 0})}},
      {"mel_lower_edge_ignored",
       "g (int64 b, int64 n, int64 r, float l, float u) => (float[18,1] y) { y "
       "= MelWeightMatrix(b, n, r, l, u) }",
       {I({}, {1}), I({}, {34}), I({}, {22400}), F({}, {700}), F({}, {10500})},
       {I({}, {1}), I({}, {34}), I({}, {22400}), F({}, {0}), F({}, {10500})}},
      {"roi_corners_swapped",
       "g (float[1,1,2,2] x, float[1,5] r) => (float[1,1,1,1] y) { y = "
       "MaxRoiPool<pooled_shape = [1, 1]>(x, r) }",
       {F({1, 1, 2, 2}, {1, 2, 3, 4}), F({1, 5}, {0, 1, 0, 1, 0})},
       {F({1, 1, 2, 2}, {1, 2, 3, 4}), F({1, 5}, {0, 1, 1, 1, 1})}},
      {"scaler_scales_first",
       "g (float[1,2] x) => (float[1,2] y) { y = ai.onnx.ml.Scaler<offset = "
       "[1.0, 0.0], scale = [2.0, 3.0]>(x) }",
       {F({1, 2}, {4, 5})},
       {F({1, 2}, {kNan, 5})}},
  };
}

bool Differs(const char* mutant, const std::string& graph,
             const std::vector<Feed>& feeds) {
  const auto right = RunWith("", graph, feeds);
  const auto wrong = RunWith(mutant, graph, feeds);
  EXPECT_TRUE(right.ok()) << mutant << right.status().ToString();
  EXPECT_TRUE(wrong.ok()) << mutant << wrong.status().ToString();
  return right.ok() && wrong.ok() && !SameBits(*right, *wrong);
}

TEST(Defects, ShowWhereTheyLieAndNowhereElse) {
  for (const auto& table : {Nonfinite(), Integers(), Roundings(), Sums(),
                            Choices(), Learned(), Updates(), Reaches()}) {
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
    return Got(RunWith(mutant, graph, feeds, opset));
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
  EXPECT_TRUE(Differs("double_initializers_lost", of_doubles,
                      Along({1}, DType::kFloat64)));
  EXPECT_FALSE(Differs("double_initializers_lost", of_floats, Along({1})));
}

}  // namespace
}  // namespace assay::faulty
