// SPDX-License-Identifier: Apache-2.0
//
// Losses, and signals in time and frequency, by tables worked out by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "backends/reference/gradient_rows.h"
#include "backends/reference/kernel_rows.h"
#include "framework/backend/exact.h"

namespace assay::reference {
namespace {

// Labels 2, 0 and 1 of three samples, the last of which -100 may replace.
const Feed kLogProbs = F({3, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9});
const Feed kLabels = I({3}, {2, 0, 1});
const Feed kIgnoring = I({3}, {2, 0, -100});
const Feed kWeights = F({3}, {0.5, 2, 1});

Row Likelihood(const std::string& node, const std::vector<Feed>& feeds,
               const Feed& wanted) {
  return {"g (" + Declare("x t w", feeds) + ") => (" + Declare("y", {wanted}) +
              ") { y = NegativeLogLikelihoodLoss" + node + " }",
          feeds,
          {wanted}};
}

TEST(LossesTest, LikelihoodsAreWeightedIgnoredAndReduced) {
  const auto row = [](const std::string& reduction, const Feed& labels,
                      bool weighted, const Feed& wanted) {
    return Likelihood("<reduction = \"" + reduction +
                          "\", ignore_index = -100>" +
                          (weighted ? "(x, t, w)" : "(x, t)"),
                      {kLogProbs, labels, kWeights}, wanted);
  };
  ExpectRows({
      row("none", kLabels, false, F({3}, {3, 4, 8})),
      row("sum", kLabels, false, F({}, {15})),
      row("mean", kLabels, false, F({}, {5})),
      row("none", kLabels, true, F({3}, {3, 2, 16})),
      row("sum", kLabels, true, F({}, {21})),
      row("mean", kLabels, true, F({}, {6})),
      row("none", kIgnoring, false, F({3}, {3, 4, 0})),
      row("mean", kIgnoring, false, F({}, {3.5})),
      row("sum", kIgnoring, true, F({}, {5})),
      row("mean", kIgnoring, true, F({}, {5 / 1.5})),
      row("mean", I({3}, {-100, -100, -100}), false, F({}, {std::nan("")})),
  });
}

TEST(LossesTest, ClassesAreTheSecondOfManyAxes) {
  ExpectRows({Likelihood("<reduction = \"none\">(x, t)",
                         {F({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                          I({2, 1, 2}, {0, 1, 1, 0}), kWeights},
                         F({2, 1, 2}, {-1, -4, -7, -6}))});
}

TEST(LossesTest, CrossEntropyIsTheLikelihoodOfTheLogSoftmax) {
  // Exponentials of 1 and 3 to 4, of 1 and 1 to 2.
  const double log3 = std::log(3.0), log4 = std::log(4.0), log2 = std::log(2.0);
  const Feed x = F({2, 2}, {0, log3, 90, 90});
  const Feed p = F({2, 2}, {-log4, log3 - log4, -log2, -log2});
  const auto row = [&](const std::string& attributes, const Feed& labels,
                       const Feed& wanted) {
    return Of("y, p = SoftmaxCrossEntropyLoss" + attributes + "(x, t)",
              {x, labels}, {wanted, p});
  };
  ExpectRows({
      row("<reduction = \"none\">", I({2}, {0, 1}), F({2}, {log4, log2})),
      row("", I({2}, {0, 1}), F({}, {(log4 + log2) / 2})),
      row("<ignore_index = 7>", I({2}, {0, 7}), F({}, {log4})),
  });
}

TEST(LossesTest, CrossEntropyIsRoundedOnce) {
  // 3 log(3) is 3.29584, between 3.294921875 and 3.296875; from a log(3) that
  // was rounded before, it would be the latter.
  const Feed x = {DType::kFloat16, {3, 3}, std::vector<double>(9, 0)};
  ExpectRows({Of("SoftmaxCrossEntropyLoss<reduction = \"sum\">(x, t)",
                 {x, kLabels}, {{DType::kFloat16, {}, {3.294921875}}})});
}

TEST(LossesTest, WhatDoesNotGoTogetherIsNamed) {
  const auto refusal = [](const std::string& node, const Feed& x,
                          const Feed& labels, const std::string& message) {
    const Row row = Likelihood(node, {x, labels, kWeights}, F({}, {0}));
    return Refusal{row.graph, row.feeds,
                   "NegativeLogLikelihoodLoss: " + message};
  };
  ExpectRefusals({
      refusal("(x, t)", kLogProbs, I({2}, {0, 1}),
              "input target of shape [2], wanted [3]"),
      refusal("(x, t)", kLogProbs, kIgnoring,
              "input target has the value -100, wanted one in [0, 3)"),
      refusal("(x, t)", kLogProbs, I({3}, {0, 1, 3}),
              "input target has the value 3, wanted one in [0, 3)"),
      refusal("(x, t, w)", F({1, 2}, {1, 2}), I({1}, {0}),
              "input weight of shape [3], wanted [2]"),
      refusal("<reduction = \"most\">(x, t)", kLogProbs, kLabels,
              "reduction is 'most', wanted none, sum or mean"),
  });
}

Feed N(int64_t number) { return I({}, {static_cast<double>(number)}); }

// X of (a, b) is (a + b, a - b); of (a, b, c, d) onesided (a + b + c + d,
// a - c - (b - d) i, a - b + c - d).
TEST(Stft, TransformsEachWindowedFrame) {
  ExpectRows({
      Of("STFT(x, s, w)", {F({1, 4, 1}, {1, 2, 3, 4}), N(1), F({2}, {1, 10})},
         {F({1, 3, 2, 2}, {21, 0, -19, 0, 32, 0, -28, 0, 43, 0, -37, 0})}),
      // The last sample is of no whole frame.
      Of("STFT(x, s, , n)", {D({1, 7, 1}, {1, 2, 3, 4, 5, 6, 9}), N(2), N(4)},
         {D({1, 2, 3, 2}, {10, 0, -2, 2, -2, 0, 18, 0, -2, 2, -2, 0})}),
      // Complex, of two batches; the frame is the whole signal.
      Of("STFT<onesided = 0>(x, s)",
         {F({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 80}), N(1)},
         {F({2, 1, 2, 2}, {4, 6, -2, -2, 12, 86, -2, -74})}),
      Of("STFT(x, s, w)",
         {{DType::kFloat16, {1, 2, 1}, {1, 3}},
          {DType::kInt32, {}, {1}},
          {DType::kFloat16, {1}, {0.5}}},
         {{DType::kFloat16, {1, 2, 1, 2}, {0.5, 0, 1.5, 0}}}),
  });
}

TEST(Stft, GivesBothHalvesWhenNotOnesided) {
  ExpectRows({Of("STFT<onesided = 0>(x, s)", {F({1, 4, 1}, {1, 2, 4, 8}), N(1)},
                 {F({1, 1, 4, 2}, {15, 0, -3, 6, -5, 0, -3, -6})})});
}

TEST(Stft, RefusesWhatDoesNotFit) {
  const std::string windowed =
      "g (float[1,n,1] x, int64 s, float[k] w, int64 f) => (float[a,b,c,d] y) "
      "{ y = STFT(x, s, w, f) }";
  const Feed x = F({1, 4, 1}, {1, 2, 3, 4});
  ExpectRefusals({
      {windowed, {x, N(1), F({3}, {1, 1, 1}), N(2)}, "a window of shape [3]"},
      {windowed, {x, N(0), F({2}, {1, 1}), N(2)}, "frame_step is 0"},
      {windowed, {x, N(1), F({5}, {1, 1, 1, 1, 1}), N(5)}, "4 samples"},
      {"g (float[1,2,2] x, int64 s) => (float[a,b,c,d] y) { y = STFT(x, s) }",
       {F({1, 2, 2}, {1, 2, 3, 4}), N(1)},
       "the signal is complex"},
  });
}

// Sines of 0, 1/4, 1/2 and 3/4 of half a turn: their squares are 0, 1/2, 1,
// 1/2.
TEST(Windows, AreSumsOfSquaresOfSines) {
  ExpectRows({
      Of("HannWindow(n)", {N(4)}, {F({4}, {0, 0.5, 1, 0.5})}),
      Of("HannWindow<periodic = 0, output_datatype = 11>(n)",
         {{DType::kInt32, {}, {5}}}, {D({5}, {0, 0.5, 1, 0.5, 0})}),
      Of("HammingWindow(n)", {N(4)},
         {F({4}, {2 / 23.0, 12.5 / 23, 1, 12.5 / 23})}),
      Of("BlackmanWindow<periodic = 0>(n)", {N(5)},
         {F({5}, {0, 0.34, 1, 0.34, 0})}),
      Of("BlackmanWindow<output_datatype = 2>(n)", {N(4)},
         {{DType::kUint8, {4}, {0, 0, 1, 0}}}),
      Of("BlackmanWindow<output_datatype = 16>(n)", {N(4)},
         {{DType::kBFloat16, {4}, {0, 0.33984375, 1, 0.33984375}}}),
      Of("HannWindow(n)", {N(0)}, {F({0}, {})}),
  });
  ExpectRefusals({{"g (int64 n) => (float[m] y) { y = HannWindow(n) }",
                   {N(-1)},
                   "size is -1"}});
}

// mel(4900) / 3 is mel(700), so the points are at 0, 700 and 2100 hertz: of 15
// samples at 10 kHz at 16 f / 10000 = 0, 1.12 and 3.36.
TEST(MelWeightMatrix, HasATriangleForEachBand) {
  const std::vector<Feed> feeds = {N(1), N(15), N(10000), F({}, {0}),
                                   F({}, {4900})};
  const std::string node = "MelWeightMatrix<output_datatype = ";
  const std::string inputs = ">(b, n, r, lo, hi)";
  ExpectRows({
      Of(node + "1" + inputs, feeds, {F({8, 1}, {0, 1, 0.5, 0, 0, 0, 0, 0})}),
      Of(node + "11" + inputs, feeds, {D({8, 1}, {0, 1, 0.5, 0, 0, 0, 0, 0})}),
      Of(node + "5" + inputs, feeds,
         {{DType::kInt16, {8, 1}, {0, 1, 0, 0, 0, 0, 0, 0}}}),
  });
  const std::string graph =
      "g (int64 b, int64 n, int64 r, float lo, float hi) => (float[8,1] y) "
      "{ y = MelWeightMatrix(b, n, r, lo, hi) }";
  ExpectRefusals({
      {graph,
       {N(1), N(15), N(3000), F({}, {0}), F({}, {4900})},
       "the bands end at bin 11"},
      {graph,
       {N(0), N(15), N(3000), F({}, {0}), F({}, {4900})},
       "num_mel_bins is 0"},
      {graph,
       {N(1), N(15), N(3000), F({}, {9}), F({}, {1})},
       "the edges are 9 and 1"},
  });
}

TEST(Dft, RefusesWhatOnesidedExcludes) {
  ExpectRefusals({
      {"g (float[1,2,2] x) => (float[a,b,c] y) { y = DFT<onesided = 1>(x) }",
       {F({1, 2, 2}, {1, 2, 3, 4})},
       "wanted a last axis of 1"},
      {"g (float[1,2,1] x) => (float[a,b,c] y) "
       "{ y = DFT<onesided = 1, inverse = 1>(x) }",
       {F({1, 2, 1}, {1, 2})},
       "wanted a last axis of 2"},
      {"g (float[1,2,1] x, int64 n, int64 k) => (float[a,b,c] y) "
       "{ y = DFT(x, n, k) }",
       {F({1, 2, 1}, {1, 2}), N(2), N(-1)},
       "axis 2"},
      {"g (float[1,2,1] x, int64 n) => (float[a,b,c] y) { y = DFT(x, n) }",
       {F({1, 2, 1}, {1, 2}), N(0)},
       "dft_length is 0"},
  });
}

TEST(Dft, CutsOrFillsToItsLength) {
  const std::string graph =
      "g (float[1,a,1] x, int64 n) => (float[1,b,2] y) { y = DFT(x, n) }";
  ExpectRows({
      {graph, {F({1, 3, 1}, {1, 2, 4}), N(2)}, {F({1, 2, 2}, {3, 0, -1, 0})}},
      {graph,
       {F({1, 3, 1}, {1, 2, 4}), N(4)},
       {F({1, 4, 2}, {7, 0, -3, -2, 3, 0, -3, 2})}},
      // The axis is an input, and counts from the front or the back.
      Of("DFT(x, , k)", {F({2, 1, 1}, {1, 2}), N(0)},
         {F({2, 1, 2}, {3, 0, -1, 0})}),
      Of("DFT(x, , k)", {D({2, 1, 1}, {1, 2}), N(-3)},
         {D({2, 1, 2}, {3, 0, -1, 0})}),
      // Onesided backwards, to 3 real numbers of 2 complex ones, and to 4.
      Of("DFT<onesided = 1, inverse = 1>(x, n)",
         {F({1, 3, 2}, {7, 0, -3, -2, 3, 0}), N(4)},
         {F({1, 4, 1}, {1, 2, 4, 0})}),
      Of("DFT<onesided = 1, inverse = 1>(x)",
         {F({1, 3, 2}, {7, 0, -3, -2, 3, 0})}, {F({1, 4, 1}, {1, 2, 4, 0})}),
  });
}

// On a tape: cosines, windows and quotients have more digits than a double.
TEST(Spectra, HaveExactValues) {
  const struct {
    GradientRow of;
    double number;
    size_t at;
  } rows[] = {
      // 1 + 2 cos(120 degrees) + 4 cos(240 degrees) = -2.
      {GradientOf("STFT(a, b)", "float[1,1,2,2] y",
                  {F({1, 3, 1}, {1, 2, 4}), N(1)}),
       -2, 2},
      {GradientOf("HammingWindow(a)", "float[3] y", {N(3)}),
       (2 + 21 * 0.75) / 23, 1},
      {GradientOf("MelWeightMatrix(a, b, c, d, e)", "float[8,1] y",
                  {N(1), N(15), N(10000), F({}, {0}), F({}, {4900})}),
       0.5, 2},
      {GradientOf("DeformConv(a, b, c)", "float[1,1,4] y",
                  {F({1, 1, 4}, {1, 2, 4, 8}), F({1, 1, 1}, {1}),
                   F({1, 1, 4}, {0.25, 0, 0, 0})}),
       1.25, 0},
      {GradientOf("y, z = ai.onnx.preview.training.Adagrad"
                  "<decay_factor = 1.0, epsilon = 5.0>(a, b, c, d, e)",
                  "float[1] y, float[1] z",
                  {F({}, {1}), N(1), F({1}, {2}), F({1}, {4}), F({1}, {9})}),
       1.8, 0},
  };
  for (const auto& row : rows) {
    const auto network = NetworkOf(row.of.graph, {.exact = true});
    const auto exact = EvaluateAt(*network->exact(), ValuesOf(row.of.feeds),
                                  Precision::kArbitrary);
    ASSERT_TRUE(exact.ok()) << row.of.graph << exact.status().ToString();
    const auto& [value, tail, bound] = (*exact)[0];
    EXPECT_NEAR(value.tensor()->elements<double>()[row.at], row.number, 1e-15)
        << row.of.graph;
    // Value and tail hold 106 bits.
    EXPECT_LT(bound.elements<double>()[row.at], 1e-31) << row.of.graph;
  }
}

}  // namespace
}  // namespace assay::reference
