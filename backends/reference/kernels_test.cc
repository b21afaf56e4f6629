// SPDX-License-Identifier: Apache-2.0
//
// The families that compute, by a table: values by hand or by the formula.

#include <gtest/gtest.h>

#include <cmath>

#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

TEST(Kernels, ElementwiseFunctionsFollowTheirFormulas) {
  ExpectRows({
      Of("Abs(x)", {F({4}, {-2, -0.0, kInf, kNan})},
         {F({4}, {2, 0, kInf, kNan})}),
      Of("Neg(x)", {I({2}, {3, -4})}, {I({2}, {-3, 4})}),
      Of("Sign(x)", {F({5}, {-3, -0.0, 0, 7, kNan})},
         {F({5}, {-1, -0.0, 0, 1, kNan})}),
      Of("Round(x)", {F({6}, {0.5, 1.5, 2.5, -0.5, -1.5, 2.4})},
         {F({6}, {0, 2, 2, -0.0, -2, 2})}),
      Of("Exp(x)", {D({3}, {0, 1, -kInf})}, {D({3}, {1, std::exp(1.0), 0})}),
      Of("Sqrt(x)", {F({0}, {})}, {F({0}, {})}),
      Of("Log(x)", {F({}, {-1})}, {F({}, {kNan})}),
      Of("IsNaN(x)", {F({3}, {kNan, kInf, 0})}, {B({3}, {1, 0, 0})}),
      Of("IsInf<detect_negative = 0>(x)", {F({3}, {kInf, -kInf, kNan})},
         {B({3}, {1, 0, 0})}),
      // Both bounds; with min above max, max wins.
      Of("Clip(x, a, b)", {F({3}, {-9, 1, kNan}), F({}, {5}), F({}, {2})},
         {F({3}, {2, 2, kNan})}),
      Of("Clip(x, , b)", {F({2}, {-9, 9}), F({}, {2})}, {F({2}, {-9, 2})}),
  });
}

TEST(Kernels, ActivationsFollowTheirFormulasAndDoNotOverflow) {
  ExpectRows({
      Of("Relu(x)", {F({4}, {-1, 0, 2, kNan})}, {F({4}, {0, 0, 2, kNan})}),
      Of("LeakyRelu<alpha = 0.5>(x)", {F({3}, {-2, 0, 3})},
         {F({3}, {-1, 0, 3})}),
      Of("Sigmoid(x)", {D({3}, {0, -800, 800})}, {D({3}, {0.5, 0, 1})}),
      Of("Softplus(x)", {D({3}, {0, 800, -800})},
         {D({3}, {std::log(2.0), 800, 0})}),
      Of("HardSigmoid(x)", {F({3}, {-9, 0, 9})}, {F({3}, {0, 0.5, 1})}),
      Of("ThresholdedRelu(x)", {F({3}, {1, 1.5, -1})}, {F({3}, {0, 1.5, 0})}),
      Of("Elu<alpha = 2.0>(x)", {D({2}, {-1, 3})},
         {D({2}, {2 * std::expm1(-1.0), 3})}),
      Of("Celu<alpha = 2.0>(x)", {D({2}, {-1, 3})},
         {D({2}, {2 * std::expm1(-0.5), 3})}),
      Of("SwiGLU<alpha = 2.0>(a, b)",
         {D({2}, {0, std::log(3.0) / 2}), D({2}, {5, 8})},
         {D({2}, {0, 3 * std::log(3.0)})}),
      Of("Gelu(x)", {D({1}, {1})},
         {D({1}, {0.5 * (1 + std::erf(std::sqrt(0.5)))})}),
      Of("PRelu(x, s)", {F({2, 2}, {-1, -1, 1, -2}), F({2}, {0.5, 3})},
         {F({2, 2}, {-0.5, -3, 1, -6})}),
      Of("Shrink<lambd = 1.5, bias = 1.0>(x)", {F({4}, {-2, -1.5, 1.5, 2})},
         {F({4}, {-1, 0, 0, 1})}),
  });
}

TEST(Kernels, BinaryOperatorsBroadcastAndIntegersWrap) {
  ExpectRows({
      Of("Add(a, b)", {F({2, 1}, {10, 20}), F({3}, {1, 2, 3})},
         {F({2, 3}, {11, 12, 13, 21, 22, 23})}),
      {"g (float[2,3] a, float b) => (float[2,3] y) { y = Sub(b, a) }",
       {F({2, 3}, {1, 2, 3, 4, 5, 6}), F({}, {0})},
       {F({2, 3}, {-1, -2, -3, -4, -5, -6})}},
      Of("Mul(a, b)", {F({0, 3}, {}), F({1, 3}, {1, 2, 3})}, {F({0, 3}, {})}),
      Of("Add(a, b)",
         {{DType::kUint8, {2}, {250, 1}}, {DType::kUint8, {2}, {10, 1}}},
         {{DType::kUint8, {2}, {4, 2}}}),
      Of("Div(a, b)", {I({4}, {-7, 7, 5, -6}), I({4}, {2, -2, 0, -1})},
         {I({4}, {-3, -3, 0, 6})}),
      Of("Mod(a, b)", {I({4}, {-7, 7, -6, 5}), I({4}, {3, -3, 3, 0})},
         {I({4}, {2, -2, 0, 0})}),
      Of("Mod(a, b)", {F({3}, {-7, 6, -6}), F({3}, {3, -3, 3})},
         {F({3}, {2, -0.0, 0})}),
      Of("Mod<fmod = 1>(a, b)", {F({2}, {-7, 6}), F({2}, {3, -3})},
         {F({2}, {-1, 0})}),
      Of("Pow(a, b)", {I({4}, {-3, 2, 2, -1}), I({4}, {3, 10, -1, -3})},
         {I({4}, {-27, 1024, 0, -1})}),
      Of("BitShift<direction = \"RIGHT\">(a, b)",
         {{DType::kInt8, {3}, {-8, 8, -1}}, {DType::kInt8, {3}, {1, 2, 99}}},
         {{DType::kInt8, {3}, {-4, 2, -1}}}),
      Of("Max(a, b, c)", {F({2}, {1, kNan}), F({1}, {2}), F({2}, {0, 9})},
         {F({2}, {2, kNan})}),
      Of("Mean(a, b)", {F({1}, {1}), F({2}, {3, 5})}, {F({2}, {2, 3})}),
  });
}

TEST(Kernels, LogicComparesAndSelects) {
  ExpectRows({
      Of("LessOrEqual(a, b)", {F({3}, {1, 2, kNan}), F({}, {2})},
         {B({3}, {1, 1, 0})}),
      Of("Xor(a, b)", {B({2, 1}, {0, 1}), B({2}, {0, 1})},
         {B({2, 2}, {0, 1, 1, 0})}),
      Of("Where(c, a, b)", {B({2}, {1, 0}), F({2, 1}, {1, 2}), F({}, {9})},
         {F({2, 2}, {1, 9, 2, 9})}),
  });
}

TEST(Kernels, ProductsFollowNumpyAndGemm) {
  ExpectRows({
      Of("MatMul(a, b)", {F({2, 2}, {1, 2, 3, 4}), F({2, 2}, {5, 6, 7, 8})},
         {F({2, 2}, {19, 22, 43, 50})}),
      Of("MatMul(a, b)", {F({2}, {1, 2}), F({2}, {3, 4})}, {F({}, {11})}),
      Of("MatMul(a, b)", {F({2}, {1, 2}), F({2, 3}, {1, 2, 3, 4, 5, 6})},
         {F({3}, {9, 12, 15})}),
      Of("MatMul(a, b)", {F({2, 1, 2}, {1, 2, 3, 4}), F({1, 2, 1}, {5, 6})},
         {F({2, 1, 1}, {17, 39})}),
      Of("MatMul(a, b)", {F({1, 1, 2}, {1, 2}), F({2, 2, 1}, {1, 2, 3, 4})},
         {F({2, 1, 1}, {5, 11})}),
      Of("MatMul(a, b)", {F({2, 0}, {}), F({0, 2}, {})},
         {F({2, 2}, {0, 0, 0, 0})}),
      Of("Gemm<transA = 1, transB = 1, alpha = 2.0, beta = 10.0>(a, b, c)",
         {F({2, 1}, {1, 2}), F({2, 2}, {1, 2, 3, 4}), F({2}, {1, -1})},
         {F({1, 2}, {20, 12})}),
  });
}

TEST(Kernels, ConvolutionsAndPoolsSlide) {
  ExpectRows({
      Of("Conv<pads = [1, 1]>(x, w, b)",
         {F({1, 1, 4}, {1, 2, 3, 4}), F({1, 1, 3}, {1, 10, 100}),
          F({1}, {0.5})},
         {F({1, 1, 4}, {210.5, 321.5, 432.5, 43.5})}),
      // Two groups, of one channel and two filters each; stride and dilation.
      Of("Conv<group = 2, strides = [2], dilations = [2]>(x, w)",
         {F({1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
          F({4, 1, 2}, {1, 0, 0, 1, 1, 1, 2, -1})},
         {F({1, 4, 2}, {1, 3, 3, 5, 14, 18, 4, 6})}),
      Of("Conv<auto_pad = \"SAME_UPPER\">(x, w)",
         {F({1, 1, 2, 2}, {1, 2, 3, 4}), F({1, 1, 2, 2}, {1, 10, 100, 1000})},
         {F({1, 1, 2, 2}, {4321, 402, 43, 4})}),
      Of("y, i = MaxPool <kernel_shape = [2, 2], storage_order = 1>(x)",
         {F({1, 1, 2, 3}, {1, 7, 7, 2, 3, 9})},
         {F({1, 1, 1, 2}, {7, 9}), I({1, 1, 1, 2}, {2, 5})}),
      Of("AveragePool<kernel_shape = [3], pads = [1, 1], count_include_pad = "
         "1>(x)",
         {F({1, 1, 3}, {3, 6, 9})}, {F({1, 1, 3}, {3, 6, 5})}),
      Of("AveragePool<kernel_shape = [3], pads = [1, 1]>(x)",
         {F({1, 1, 3}, {3, 6, 9})}, {F({1, 1, 3}, {4.5, 6, 7.5})}),
      // The last window ends beyond the padding, which is not counted.
      Of("AveragePool<kernel_shape = [3], strides = [2], pads = [1, 0], "
         "ceil_mode = 1, count_include_pad = 1>(x)",
         {F({1, 1, 3}, {3, 6, 9})}, {F({1, 1, 2}, {3, 7.5})}),
      Of("LpPool<kernel_shape = [2]>(x)", {F({1, 1, 2}, {3, -4})},
         {F({1, 1, 1}, {5})}),
      Of("GlobalAveragePool(x)", {F({1, 2, 2}, {1, 2, 3, 5})},
         {F({1, 2, 1}, {1.5, 4})}),
  });
}

// So many channels that the unfolded input does not fit into one tile. Whole
// numbers, so that the order of summation does not matter.
TEST(Kernels, ConvolutionsOfManyTilesEqualTheDefinition) {
  constexpr int64_t kChannels = 1024;
  constexpr int64_t kTaps = 4;
  constexpr int64_t kOutputs = 131;
  constexpr int64_t kWidth = kOutputs + kTaps - 1;
  Feed x = D({1, kChannels, kWidth}, {});
  Feed w = D({2, kChannels, kTaps}, {});
  for (int64_t i = 0; i < kChannels * kWidth; ++i) {
    x.values.push_back(static_cast<double>(i * 7 % 11 - 5));
  }
  for (int64_t i = 0; i < 2 * kChannels * kTaps; ++i) {
    w.values.push_back(static_cast<double>(i * 5 % 13 - 6));
  }
  Feed y = D({1, 2, kOutputs}, {});
  for (int64_t o = 0; o < 2 * kOutputs; ++o) {
    double sum = 0;
    for (int64_t t = 0; t < kChannels * kTaps; ++t) {
      const auto at = t / kTaps * kWidth + o % kOutputs + t % kTaps;
      const auto tap = o / kOutputs * kChannels * kTaps + t;
      sum += x.values[static_cast<size_t>(at)] *
             w.values[static_cast<size_t>(tap)];
    }
    y.values.push_back(sum);
  }
  ExpectRows(
      {{"g (double[1,1024,134] x, double[2,1024,4] w) => "
        "(double[1,2,131] y) { y = Conv(x, w) }",
        {x, w},
        {y}}});
}

TEST(Kernels, LinesAndReductionsFollowTheirFormulas) {
  const double e = std::exp(1.0);
  ExpectRows({
      Of("Softmax<axis = 0>(x)", {D({2, 2}, {0, 1e4, 1, 1e4})},
         {D({2, 2}, {1 / (1 + e), 0.5, e / (1 + e), 0.5})}),
      Of("LogSoftmax(x)", {D({1, 2}, {1000, 1000})},
         {D({1, 2}, {-std::log(2.0), -std::log(2.0)})}),
      Of("Hardmax(x)", {F({3}, {1, 5, 5})}, {F({3}, {0, 1, 0})}),
      Of("CumSum<exclusive = 1, reverse = 1>(x, a)",
         {F({3}, {1, 2, 4}), I({}, {-1})}, {F({3}, {6, 4, 0})}),
      Of("ReduceSum<keepdims = 0>(x, a)",
         {F({2, 1, 2}, {1, 2, 3, 4}), I({2}, {0, -1})}, {F({1}, {10})}),
      Of("ReduceSumSquare<noop_with_empty_axes = 1>(x)",
         {F({2, 2}, {1, 2, 3, 4})}, {F({2, 2}, {1, 4, 9, 16})}),
      Of("ReduceProd(x)", {F({2, 2}, {1, 2, 3, 4})}, {F({1, 1}, {24})}),
      Of("ReduceMin(x, a)", {F({2, 0}, {}), I({1}, {1})},
         {F({2, 1}, {kInf, kInf})}),
      Of("ReduceMax(x)", {{DType::kInt8, {0}, {}}},
         {{DType::kInt8, {1}, {-128}}}),
      Of("ReduceLogSumExp(x)", {D({2}, {1000, 1000})},
         {D({1}, {1000 + std::log(2.0)})}),
      Of("ReduceLogSumExp(x)", {D({2}, {-kInf, -kInf})}, {D({1}, {-kInf})}),
      Of("ArgMax<axis = 1>(x)", {F({2, 3}, {1, 3, 3, kNan, 9, 1})},
         {I({2, 1}, {1, 0})}),
      Of("ArgMin<keepdims = 0, select_last_index = 1>(x)", {F({3}, {2, 2, 5})},
         {I({}, {1})}),
      Of("v, i = TopK <axis = 0>(x, k)", {F({2, 2}, {1, 4, 3, 4}), I({1}, {1})},
         {F({1, 2}, {3, 4}), I({1, 2}, {1, 0})}),
  });
}

}  // namespace
}  // namespace assay::reference
