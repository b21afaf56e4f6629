// SPDX-License-Identifier: Apache-2.0

#include "perf/work/work_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "framework/graph/model_text.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::work {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelWork WorkOfText(const std::string& text, int opset = 0) {
  return Got(WorkOf(graph::ModelOfText("g " + text, opset)));
}

/// The work of a model, all of whose nodes tell theirs.
Work Known(const std::string& text, int opset = 0) {
  ModelWork work = WorkOfText(text, opset);
  EXPECT_THAT(work.unknown, IsEmpty()) << text;
  return work.work;
}

struct Row {
  const char* text;
  double flops, transcendentals, on_padding, bytes_read, bytes_written;
};

void CheckRows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const Work work = Known(row.text);
    EXPECT_EQ(work.flops, row.flops);
    EXPECT_EQ(work.transcendentals, row.transcendentals);
    EXPECT_EQ(work.on_padding, row.on_padding);
    EXPECT_EQ(work.bytes_read, row.bytes_read);
    EXPECT_EQ(work.bytes_written, row.bytes_written);
  }
}

// Kills: a product that counts one operation, a batch that is left out, alpha
// and beta, the axis that is summed, elements of one size.
TEST(Work, OfProductsIsTwoOperationsATerm) {
  CheckRows({
      {"(float[3,4] a, float[4,5] b) => (float[3,5] y) { y = MatMul(a, b) }",
       120, 0, 0, 128, 60},
      {"(float[2,3,4] a, float[4] b) => (float[2,3] y) { y = MatMul(a, b) }",
       48, 0, 0, 112, 24},
      {"(float16[2,3,4] a, float16[2,4,5] b) => (float16[2,3,5] y)"
       " { y = MatMul(a, b) }",
       240, 0, 0, 128, 60},
      {"(float[4,3] a, float[5,4] b, float[5] c) => (float[3,5] y)"
       " { y = Gemm<transA = 1, transB = 1>(a, b, c) }",
       135, 0, 0, 148, 60},
      {"(float[4,3] a, float[5,4] b, float[5] c) => (float[3,5] y)"
       " { y = Gemm<transA = 1, transB = 1, alpha = 2.0, beta = 3.0>(a, b, c)"
       " }",
       155, 0, 0, 148, 60},
      {"(uint8[3,4] a, uint8[4,5] b) => (int32[3,5] y)"
       " { y = MatMulInteger(a, b) }",
       120, 0, 0, 32, 60},
      {"(uint8[3,4] a, float s, uint8 z, uint8[4,5] b) => (uint8[3,5] y)"
       " { y = QLinearMatMul(a, s, z, b, s, z, s, z) }",
       195, 0, 0, 37, 15},
      {"(float[2,3,4] a, float[2,4,5] b) => (float[2,3,5] y)"
       " { y = Einsum<equation = \"bij,bjk->bik\">(a, b) }",
       240, 0, 0, 256, 120},
      {"(float[3] a, float[4] b) => (float[3,4] y)"
       " { y = Einsum<equation = \"i, j -> ij\">(a, b) }",
       12, 0, 0, 28, 48},
      {"(float[2,3,4] a, float[2,4,5] b) => (float[2,3,5] y)"
       " { y = Einsum<equation = \"...ij,...jk->...ik\">(a, b) }",
       240, 0, 0, 256, 120},
      {"(float[3,4] a) => (float[3] y)"
       " { y = Einsum<equation = \"ij->i\">(a) }",
       9, 0, 0, 48, 12},
      // LU of 3 by 3: 3 divisions, 5 products and 5 differences; 2 products.
      {"(float[2,3,3] x) => (float[2] y) { y = Det(x) }", 30, 0, 0, 72, 8},
      // 4 transforms of 8 complex numbers: 5 * 8 * 3 each.
      {"(float[4,8,2] x) => (float[4,8,2] y) { y = DFT(x) }", 480, 0, 0, 256,
       256},
  });
}

// Kills: groups, dilations, strides or pads that are not looked at, a bias for
// nothing, a transposed convolution counted by its output.
TEST(Work, OfConvolutionsCountsTapsOnTheImage) {
  CheckRows({
      {"(float[1,2,5,5] x, float[4,2,3,3] w) => (float[1,4,3,3] y)"
       " { y = Conv(x, w) }",
       1296, 0, 0, 488, 144},
      {"(float[1,2,5,5] x, float[4,2,3,3] w, float[4] b) => (float[1,4,3,3] y)"
       " { y = Conv(x, w, b) }",
       1332, 0, 0, 504, 144},
      // A row of 3: 1 + 1 + 2 taps... of 3 places 2, 3 and 2 are inside.
      {"(float[1,1,3] x, float[1,1,3] w) => (float[1,1,3] y)"
       " { y = Conv<pads = [1, 1]>(x, w) }",
       14, 0, 4, 24, 12},
      {"(float[1,4,5,5] x, float[4,2,3,3] w) => (float[1,4,3,3] y)"
       " { y = Conv<group = 2>(x, w) }",
       1296, 0, 0, 688, 144},
      {"(float[1,1,7] x, float[1,1,3] w) => (float[1,1,2] y)"
       " { y = Conv<dilations = [2], strides = [2]>(x, w) }",
       12, 0, 0, 40, 8},
      // Places -3, -1, ... 9 of 7: three lie inside. DeepBench's row 7 7 2048.
      {"(float[1,1,7,7] x, float[1,1,1,1] w) => (float[1,1,7,7] y)"
       " { y = Conv<pads = [3, 3, 3, 3], strides = [2, 2]>(x, w) }",
       18, 0, 80, 200, 196},
      {"(float[1,2,3] x, float[2,5,2] w) => (float[1,5,6] y)"
       " { y = ConvTranspose<strides = [2]>(x, w) }",
       120, 0, 0, 104, 120},
      // The first and the last of the six places are cut away.
      {"(float[1,2,3] x, float[2,5,2] w, float[5] b) => (float[1,5,4] y)"
       " { y = ConvTranspose<strides = [2], pads = [1, 1]>(x, w, b) }",
       100, 0, 40, 124, 80},
      {"(uint8[1,1,4] x, uint8[1,1,3] w) => (int32[1,1,2] y)"
       " { y = ConvInteger(x, w) }",
       12, 0, 0, 7, 8},
      {"(float[1,2,4] x, float[2,1,3] w) => (float[1,2,4] y, float[1,2,2] s)"
       " { y, s = CausalConvWithState(x, w) }",
       36, 0, 12, 56, 48},
  });
}

// Kills: pads that are compared, a division that is forgotten, a power that is
// none.
TEST(Work, OfPoolsCountsWhatIsFolded) {
  CheckRows({
      {"(float[1,2,4,4] x) => (float[1,2,2,2] y)"
       " { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }",
       24, 0, 0, 128, 32},
      {"(float[1,2,4,4] x) => (float[1,2,2,2] y)"
       " { y = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x) }",
       32, 0, 0, 128, 32},
      // 3 windows over [pad, 1, 2, 3, pad]: 2 + 3 + 2 taps.
      {"(float[1,1,3] x) => (float[1,1,3] y)"
       " { y = MaxPool<kernel_shape = [3], pads = [1, 1]>(x) }",
       4, 0, 0, 12, 12},
      {"(float[1,1,4] x) => (float[1,1,2] y)"
       " { y = LpPool<kernel_shape = [2], strides = [2]>(x) }",
       6, 2, 0, 16, 8},
      {"(float[1,1,4] x) => (float[1,1,2] y)"
       " { y = LpPool<kernel_shape = [2], strides = [2], p = 1>(x) }",
       6, 0, 0, 16, 8},
      {"(float[1,1,4] x) => (float[1,1,2] y)"
       " { y = LpPool<kernel_shape = [2], strides = [2], p = 3>(x) }",
       2, 6, 0, 16, 8},
      {"(float[2,3,4,4] x) => (float[2,3,1,1] y) { y = GlobalMaxPool(x) }", 90,
       0, 0, 384, 24},
      {"(float[2,3,4,4] x) => (float[2,3,1,1] y) { y = GlobalAveragePool(x) }",
       96, 0, 0, 384, 24},
  });
}

// Kills: numbers by the input where they go by the output, calls among
// operations, inputs of a fold that are not counted.
TEST(Work, OfElementsIsThatOfTheFormula) {
  CheckRows({
      {"(float[2,3] a, float[3] b) => (float[2,3] y) { y = Add(a, b) }", 6, 0,
       0, 36, 24},
      {"(float[6] a) => (float[6] y) { y = Exp(a) }", 0, 6, 0, 24, 24},
      {"(float[6] a) => (float[6] y) { y = Sigmoid(a) }", 18, 6, 0, 24, 24},
      {"(float[6] a) => (float[6] y) { y = Gelu(a) }", 24, 6, 0, 24, 24},
      {"(float[6] a) => (float[6] y) { y = Gelu<approximate = \"tanh\">(a) }",
       48, 6, 0, 24, 24},
      {"(float[6] a, float[6] b) => (float[6] y) { y = Sum(a, b, a) }", 12, 0,
       0, 48, 24},
      {"(float[6] a, float[6] b) => (float[6] y) { y = Mean(a, b, a) }", 18, 0,
       0, 48, 24},
      {"(float[6] a, float l) => (float[6] y) { y = Clip(a, l) }", 6, 0, 0, 28,
       24},
      {"(bool[6] c, float[6] a, float[6] b) => (float[6] y)"
       " { y = Where(c, a, b) }",
       6, 0, 0, 54, 24},
      {"(float[6] x, float s, uint8 z) => (uint8[6] y)"
       " { y = QuantizeLinear(x, s, z) }",
       30, 0, 0, 29, 6},
      {"(int4[6] x, float s) => (float[6] y) { y = DequantizeLinear(x, s) }", 6,
       0, 0, 7, 24},
      {"(float[6] x) => (float[6] y) { y = Dropout(x) }", 0, 0, 0, 24, 24},
  });
}

// Kills: lines that are not told from elements, means without a division.
TEST(Work, OfReductionsAndNormalisations) {
  CheckRows({
      {"(float[2,5] x) => (float[2,1] y) <int64[1] a = {1}>"
       " { y = ReduceSum(x, a) }",
       8, 0, 0, 48, 8},
      {"(float[2,5] x) => (float[2,1] y) <int64[1] a = {1}>"
       " { y = ReduceLogSumExp(x, a) }",
       30, 12, 0, 48, 8},
      {"(float[2,5] x) => (float[2,1] y) <int64[1] a = {1}>"
       " { y = ReduceMean(x, a) }",
       10, 0, 0, 48, 8},
      {"(float[2,5] x) => (float[2,5] y) <int64 a = {1}>"
       " { y = CumSum(x, a) }",
       8, 0, 0, 48, 40},
      {"(float[2,5] x) => (float[2,5] y) { y = Softmax(x) }", 40, 10, 0, 40,
       40},
      {"(float[2,5] x) => (float[2,5] y) { y = LogSoftmax(x) }", 40, 12, 0, 40,
       40},
      {"(float[2,5] x, float[5] s) => (float[2,5] y)"
       " { y = LayerNormalization(x, s) }",
       66, 2, 0, 60, 40},
      {"(float[2,5] x, float[5] s) => (float[2,5] y)"
       " { y = LayerNormalization(x, s, s) }",
       76, 2, 0, 60, 40},
      {"(float[2,5] x, float[5] s) => (float[2,5] y)"
       " { y = RMSNormalization(x, s) }",
       44, 2, 0, 60, 40},
      {"(float[2,3,4] x, float[3] s) => (float[2,3,4] y)"
       " { y = BatchNormalization(x, s, s, s, s) }",
       99, 3, 0, 108, 96},
      {"(float[2,4,3] x, float[4] s) => (float[2,4,3] y)"
       " { y = GroupNormalization<num_groups = 2>(x, s, s) }",
       180, 4, 0, 112, 96},
      {"(float[2,3,4] x, float[3] s) => (float[2,3,4] y)"
       " { y = InstanceNormalization(x, s, s) }",
       186, 6, 0, 108, 96},
      {"(float[1,4] x) => (float[1,4] y) { y = LRN<size = 3>(x) }", 24, 4, 0,
       16, 16},
      {"(float[2,5] x, int64[2] t) => (float l)"
       " { l = NegativeLogLikelihoodLoss(x, t) }",
       4, 0, 0, 24, 4},
      {"(float[2,5] x, int64[2] t) => (float l)"
       " { l = SoftmaxCrossEntropyLoss(x, t) }",
       44, 12, 0, 56, 4},
  });
}

// Kills: heads, keys or the past that are not counted, a mask that takes
// nothing away, caches that are read whole.
TEST(Work, OfAttentionCountsTheScoresThatAreSeen) {
  CheckRows({
      // 2 * 3 heads, 4 rows, 4 keys: 96 scores of 2 * 8 + 5 + 2 * 8.
      {"(float[2,3,4,8] q, float[2,3,4,8] k) => (float[2,3,4,8] y)"
       " { y = Attention(q, k, k) }",
       3552, 96, 0, 1536, 768},
      // Rows see 1, 2, 3 and 4 keys: 60 of 96.
      {"(float[2,3,4,8] q, float[2,3,4,8] k) => (float[2,3,4,8] y)"
       " { y = Attention<is_causal = 1>(q, k, k) }",
       2220, 60, 1332, 1536, 768},
      // One row behind 7 keys sees all 8; two heads share one of the cache.
      {"(float[1,2,1,4] q, float[1,1,1,4] k, float[1,1,7,4] p) =>"
       " (float[1,2,1,4] y, float[1,1,8,4] pk, float[1,1,8,4] pv)"
       " { y, pk, pv = Attention<is_causal = 1>(q, k, k, , p, p) }",
       336, 16, 0, 160, 288},
      // A window of the row itself and the one before: 1 + 2 + 2.
      {"(float[1,1,3,4] q) => (float[1,1,3,4] y)"
       " { y = Attention<is_causal = 1, left_window_size = 1>(q, q, q) }",
       105, 5, 84, 48, 48},
      {"(float[1,2,3,4] x, float[9,2] c, int64[1,3] p) =>"
       " (float[1,2,3,4] y) { y = RotaryEmbedding(x, c, c, p) }",
       72, 0, 0, 168, 96},
  });
}

// DeepBench's sheets count the recurrent products alone, 2 T N g H H (vanilla
// + T N H); with I = H those of the input are as many.
TEST(Work, OfRecurrentLayersIsDeepBenchsAndTheInputs) {
  const double t = 5, n = 3, h = 8;
  const auto layer = [](std::string_view op, int gates) {
    return Known(StrCat("(float[5,3,8] x, float[1,", gates * 8,
                        ",8] w, float[1,", gates * 8,
                        ",8] r) => (float[1,3,8] y) { , y = ", op,
                        "<hidden_size = 8>(x, w, r) }"));
  };
  EXPECT_EQ(layer("RNN", 1).flops, 2 * (2 * t * n * h * h) + t * n * h);
  EXPECT_EQ(layer("LSTM", 4).flops, 2 * (8 * t * n * h * h) + 17 * t * n * h);
  EXPECT_EQ(layer("GRU", 3).flops, 2 * (6 * t * n * h * h) + 14 * t * n * h);
  EXPECT_EQ(layer("LSTM", 4).transcendentals, 5 * t * n * h);
}

// Kills: a gather that reads all, a shape that reads its input, constants that
// are written.
TEST(Work, OfMovementIsBytesAlone) {
  CheckRows({
      {"(float[100,4] x, int64[2] i) => (float[2,4] y) { y = Gather(x, i) }", 0,
       0, 0, 48, 32},
      {"(float[8,4] x, int64[1] s, int64[1] e) => (float[2,4] y)"
       " { y = Slice(x, s, e) }",
       0, 0, 0, 48, 32},
      {"(float[8,4] x) => (int64[2] y) { y = Shape(x) }", 0, 0, 0, 0, 16},
      {"(float[8,4] x) => (float[4,8] y) { y = Transpose(x) }", 0, 0, 0, 128,
       128},
      {"(float[6,2] x, int64[1,1] i, float[1,2] u) => (float[6,2] y)"
       " { y = ScatterND<reduction = \"add\">(x, i, u) }",
       2, 0, 0, 64, 48},
      {"(float[2] x) => (float[2] y)"
       " { c = Constant<value_floats = [1.0, 2.0]>() y = Add(x, c) }",
       2, 0, 0, 16, 8},
      {"(float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}>"
       " { y = Resize<mode = \"linear\">(x, , s) }",
       112, 0, 0, 32, 64},
      {"(float[2,2] x, float[3] a) => (seq(float[2,2]) s)"
       " { s = SequenceConstruct(x, x) }",
       0, 0, 0, 16, 32},
  });
}

// Kills: a body that runs once, the wrong branch, a condition that is not
// looked at.
TEST(Work, OfBodiesIsThatOfTheirRuns) {
  const std::string loop =
      "(float[3] x) => (float[3] y) <int64 m = {5}, bool t = {1}> {"
      " y = Loop<body = b (int64 i, bool c, float[3] v) => (bool d, float[3] w)"
      " { d = Identity(c) w = Add(v, v) }>(m, t, x) }";
  EXPECT_EQ(Known(loop).flops, 15);
  EXPECT_EQ(Known("(float[4,3] x) => (float[4,3] y) {"
                  " y = Scan<num_scan_inputs = 1, body = b (float[3] v) =>"
                  " (float[3] w) { w = Add(v, v) }>(x) }")
                .flops,
            12);
  const auto branches = [](std::string_view cond, std::string_view other) {
    return WorkOfText(
        StrCat("(bool c, float[3] x) => (float[3] y)"
               " <bool t = {1}, bool f = {0}> { y = If<",
               "then_branch = a () => (float[3] u)",
               " { u = Add(x, x) }, else_branch = b ()",
               " => (float[3] v) { v = ", other, "(x) }>(", cond, ") }"));
  };
  EXPECT_EQ(branches("t", "Exp").work.flops, 3);
  EXPECT_EQ(branches("f", "Exp").work.transcendentals, 3);
  EXPECT_THAT(branches("c", "Exp").unknown,
              ElementsAre(HasSubstr("which branch is taken is in the data")));
  EXPECT_THAT(
      WorkOfText("(int64 m, float[3] x) => (float[3] y) {"
                 " y = Loop<body = b (int64 i, bool c, float[3] v) =>"
                 " (bool d, float[3] w) { d = Identity(c) w = Add(v, v) }>"
                 "(m, , x) }")
          .unknown,
      ElementsAre(HasSubstr("M is no number that the model fixes")));
}

// Kills: a factor of the batch that is lost in any of them, groups that do not
// divide.
TEST(Work, DoublesWithTheBatchAndIsDividedByGroups) {
  for (const std::string text : {
           "(float[$,4,6,6] x, float[8,4,3,3] w) => (float[$,8,6,6] y)"
           " { y = Conv<pads = [1, 1, 1, 1]>(x, w) }",
           "(float[$,4,6,6] x, float[4,8,3,3] w) => (float[$,8,6,6] y)"
           " { y = ConvTranspose<pads = [1, 1, 1, 1]>(x, w) }",
           "(float[$,5,4] a, float[4,3] b) => (float[$,5,3] y)"
           " { y = MatMul(a, b) }",
           "(float[$,2,6,4] q) => (float[$,2,6,4] y)"
           " { y = Attention<is_causal = 1>(q, q, q) }",
           "(float[$,9] x) => (float[$,9] y) { y = Softmax(x) }",
           "(float[$,4,6,6] x) => (float[$,4,4,4] y)"
           " { y = AveragePool<kernel_shape = [3, 3]>(x) }",
           "(float[5,$,8] x, float[1,32,8] w) => (float[1,$,8] y)"
           " { , y = LSTM<hidden_size = 8>(x, w, w) }",
       }) {
    SCOPED_TRACE(text);
    const auto at = [&text](std::string_view batch) {
      std::string filled;
      for (const char c : text) filled += c == '$' ? batch : std::string(1, c);
      return Known(filled);
    };
    EXPECT_GT(at("1").flops, 0);
    EXPECT_EQ(at("6").flops, 2 * at("3").flops);
    EXPECT_EQ(at("6").on_padding, 2 * at("3").on_padding);
    EXPECT_EQ(at("6").transcendentals, 2 * at("3").transcendentals);
    EXPECT_EQ(at("6").bytes_written, 2 * at("3").bytes_written);
  }
  const auto grouped = [](int groups) {
    return Known(StrCat("(float[1,8,6,6] x, float[8,", 8 / groups,
                        ",3,3] w) => (float[1,8,6,6] y) { y = Conv<group = ",
                        groups, ", pads = [1, 1, 1, 1]>(x, w) }"));
  };
  EXPECT_EQ(grouped(1).flops, 4 * grouped(4).flops);
  EXPECT_EQ(grouped(1).on_padding, 8 * grouped(8).on_padding);
}

// Kills: a node that is passed over in silence, a reason of another node.
TEST(Work, SaysOfWhichNodeItIsNotKnown) {
  const ModelWork work = WorkOfText(
      "(float[3] x, string[2] t) => (float[n] y, string[2] s) {"
      " d = Add(x, x) y = Unique(d) s = Identity(t) }");
  EXPECT_EQ(work.work.flops, 3);
  EXPECT_THAT(work.unknown,
              ElementsAre("Unique: how many elements differ is in the data",
                          "Identity: the type of t, string, has no size"));
  EXPECT_THAT(
      WorkOfText("(float[n] x) => (float[n] y) { y = Relu(x) }").unknown,
      ElementsAre("Relu: x is float32[n], wanted a known shape"));
  EXPECT_THAT(
      WorkOfText("(float[1] x) => (float[1] y) { y = test.Own(x) }").unknown,
      ElementsAre("Own: test:Own is none of ONNX's operators"));
}

// Kills: operators of an older version that are counted as the newest.
TEST(Work, OfOlderModelsIsThatOfTheirCurrentForm) {
  EXPECT_EQ(Known("(float[2,5] x) => (float[2,1] y)"
                  " { y = ReduceSum<axes = [1]>(x) }",
                  11)
                .flops,
            8);
  EXPECT_EQ(Known("(float[6] x) => (float[6] y)"
                  " { y = Clip<min = 0.0, max = 6.0>(x) }",
                  6)
                .flops,
            12);
  // Softmax of two lines of 6, flattened.
  EXPECT_EQ(Known("(float[2,3,2] x) => (float[2,3,2] y)"
                  " { y = LogSoftmax<axis = 1>(x) }",
                  11)
                .transcendentals,
            14);
}

// Kills: fed numbers that decide nothing, those of another input.
TEST(Work, IsDecidedByTheNumbersThatAreFed) {
  const auto fed = [](const std::string& text, std::vector<Value> values) {
    return Got(WorkOf(graph::ModelOfText("g " + text), values));
  };
  const auto one = [](auto number) {
    return Got(Tensor::Of<decltype(number)>({}, std::span(&number, 1)));
  };
  const std::string sum =
      "(float[2,5] x, int64 a) => (float[2,5] y) { y = CumSum(x, a) }";
  const Tensor x = Got(Tensor::Allocate(DType::kFloat32, {2, 5}));
  EXPECT_EQ(fed(sum, {x, one(int64_t{1})}).work.flops, 8);
  EXPECT_EQ(fed(sum, {x, one(int64_t{0})}).work.flops, 5);
  EXPECT_THAT(fed(sum, {x}).unknown,
              ElementsAre(HasSubstr("axis is no number that the model fixes")));
  const std::string branch =
      "(bool c, float[3] x) => (float[3] y) { y = If<then_branch = a () =>"
      " (float[3] u) { u = Add(x, x) }, else_branch = b () => (float[3] v)"
      " { v = Identity(x) }>(c) }";
  EXPECT_EQ(fed(branch, {one(true)}).work.flops, 3);
  EXPECT_EQ(fed(branch, {one(false)}).work.flops, 0);
}

// Kills: lists of parameters, gradients and moments that are mixed up.
TEST(Work, OfStepsIsByTheElementsOfTheParameters) {
  const auto step = [](std::string_view op, std::string_view lists) {
    return Known(StrCat("(float r, int64 t, float[3] x) => (float[3] y) {",
                        " y, m, v = ai.onnx.preview.training.", op, "(r, t, ",
                        lists, ") }"));
  };
  EXPECT_EQ(step("Adam", "x, x, x, x").flops, 42);
  EXPECT_EQ(step("Adam", "x, x, x, x").transcendentals, 3);
  EXPECT_EQ(Known("(float r, int64 t, float[3] x) => (float[3] y) { y, v ="
                  " ai.onnx.preview.training.Momentum<alpha = 0.9, beta = 1.0,"
                  " mode = \"nesterov\", norm_coefficient = 0.0>"
                  "(r, t, x, x, x) }")
                .flops,
            27);
}

// The nets of ONNX's light models, with what their papers say of one image.
TEST(Work, OfPublishedNetsIsThatOfTheirPapers) {
  struct Net {
    const char* name;
    double macs;  // products that are added, pads included
    double within;
  };
  for (const Net& net : {
           // torchvision's page of ResNet50_Weights: 4.09 GFLOPS.
           Net{"test_resnet50", 4.09e9, 0.01},
           // K. Simonyan et al., arXiv 1409.1556; 19.6 * 10^9 in He's table.
           Net{"test_vgg19", 19.6e9, 0.01},
           // F. Iandola et al., arXiv 1602.07360; torchvision: 0.35 GFLOPS.
           Net{"test_squeezenet", 0.35e9, 0.02},
           // X. Zhang et al., arXiv 1707.01083, table 2: 1x, g = 4: 133 M.
           Net{"test_shufflenet", 133e6, 0.01},
       }) {
    SCOPED_TRACE(net.name);
    const auto model = Got(Model::Read(
        StrCat(ASSAY_CORPUS, "/model/light/", net.name, "/model.onnx")));
    const ModelWork work = Got(WorkOf(model));
    EXPECT_THAT(work.unknown, IsEmpty());
    const double macs = (work.work.flops + work.work.on_padding) / 2;
    EXPECT_NEAR(macs / net.macs, 1, net.within);
  }
}

}  // namespace
}  // namespace assay::work
