// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/reference/kernel_rows.h"

namespace assay::reference {
namespace {

Feed T(int64_t count) { return I({}, {static_cast<double>(count)}); }

const std::string kDomain = "ai.onnx.preview.training.";

// G' = 0.5 * 2 + 3 = 4, H' = 9 + 16, X' = 2 - r * 4 / (5 + 5), r = 1 / (1 + T).
TEST(Adagrad, StepsAgainstTheGradient) {
  const auto row = [](int64_t count, double x) {
    return Of("y, z = " + kDomain +
                  "Adagrad<decay_factor = 1.0, norm_coefficient = 0.5, "
                  "epsilon = 5.0>(r, t, x, g, h)",
              {F({}, {1}), T(count), F({1}, {2}), F({1}, {3}), F({1}, {9})},
              {F({1}, {x}), F({1}, {25})});
  };
  ExpectRows({row(0, 1.6), row(1, 1.8)});
}

// V' = 4/2 + 2/2 = 3, H' = 15 + 1 = 16, X' = (1 - r * 3 / 4) / 2.
TEST(Adam, CorrectsItsBiasFromTheFirstUpdate) {
  const auto row = [](int64_t count, double x) {
    return Of("y, z, w = " + kDomain +
                  "Adam<alpha = 0.5, beta = 0.75, epsilon = 0.0, "
                  "norm_coefficient_post = 0.5>(r, t, x, g, v, h)",
              {F({}, {4}), T(count), F({1}, {1}), F({1}, {2}), F({1}, {4}),
               F({1}, {20})},
              {F({1}, {x}), F({1}, {3}), F({1}, {16})});
  };
  // r = 4; 4 * sqrt(1/4) / (1/2); 4 * sqrt(7/16) / (3/4).
  ExpectRows({row(0, -1), row(1, -1), row(2, -0.82287566)});
}

// G' = 2 + 1 = 3; V' = 4/2 + 3 at first, then 4/2 + 3/4.
TEST(Momentum, TakesTheWholeGradientAtFirst) {
  const auto row = [](const std::string& mode, int64_t count, double x,
                      double v) {
    return Of("y, z = " + kDomain +
                  "Momentum<alpha = 0.5, beta = 0.25, norm_coefficient = 1.0, "
                  "mode = \"" +
                  mode + "\">(r, t, x, g, v)",
              {F({}, {0.125}), T(count), F({1}, {1}), F({1}, {2}), F({1}, {4})},
              {F({1}, {x}), F({1}, {v})});
  };
  ExpectRows({row("standard", 0, 0.375, 5), row("standard", 1, 0.65625, 2.75),
              row("nesterov", 0, 0.3125, 5),
              row("nesterov", 1, 0.453125, 2.75)});
}

// X - V', of two tensors whose states follow one another, and whose types
// differ: 0.5 V + G.
TEST(Momentum, UpdatesAnyNumberOfTensors) {
  ExpectRows({Of(
      "ya, yb, za, zb = ai.onnx.preview.training.Momentum<alpha = 0.5, beta = "
      "1.0, norm_coefficient = 0.0, mode = \"standard\">(r, t, a, b, ga, gb, "
      "va, vb)",
      {D({}, {1}), I({1}, {3}), F({2}, {10, 20}), D({1, 1}, {30}),
       F({2}, {1, 2}), D({1, 1}, {3}), F({2}, {4, 8}), D({1, 1}, {0x1p-40})},
      {F({2}, {7, 14}), D({1, 1}, {27 - 0x1p-41}), F({2}, {3, 6}),
       D({1, 1}, {3 + 0x1p-41})})});
}

TEST(Training, RefusesWhatDoesNotFit) {
  ExpectRefusals({
      {"g (float r, int64 t, float[2] x, float[1] g, float[2] h) => "
       "(float[2] y, float[2] z) "
       "{ y, z = ai.onnx.preview.training.Adagrad(r, t, x, g, h) }",
       {F({}, {1}), T(0), F({2}, {1, 2}), F({1}, {1}), F({2}, {1, 2})},
       "input 3 has shape [1], wanted [2] as input 2"},
      {"g (float[2] r, int64 t, float[1] x, float[1] g, float[1] h) => "
       "(float[1] y, float[1] z) "
       "{ y, z = ai.onnx.preview.training.Adagrad(r, t, x, g, h) }",
       {F({2}, {1, 1}), T(0), F({1}, {1}), F({1}, {1}), F({1}, {1})},
       "R has 2"},
      {"g (float r, int64 t, float[1] x, float[1] g, float[1] v, float[1] h, "
       "float[1] u) => (float[1] y, float[1] z) "
       "{ y, z = ai.onnx.preview.training.Adagrad(r, t, x, g, v, h, u) }",
       {},
       "found 5 tensors"},
      {"g (float r, int64 t, float[1] x, float[1] g, float[1] v) => "
       "(float[1] y, float[1] z) { y, z = ai.onnx.preview.training.Momentum"
       "<alpha = 0.5, beta = 0.25, norm_coefficient = 1.0, mode = \"heavy\">"
       "(r, t, x, g, v) }",
       {},
       "mode is 'heavy'"},
  });
}

// d = a^2 b.
const char* const kSquare = " { c = Mul(a, b) d = Mul(c, a) ";
#define ASSAY_GRADIENT " = ai.onnx.preview.training.Gradient"

TEST(Gradient, IsOfTheGraphBetweenXsAndY) {
  const std::string square = kSquare;
  const Feed a = F({2}, {2, 3});
  const Feed b = F({2}, {5, 7});
  ExpectRows({
      {"g (float[2] a, float[2] b) => (float[2] p, float[2] q)" + square +
           "p, q" ASSAY_GRADIENT "<xs = [\"a\", \"b\"], y = \"d\">(a, b) }",
       {a, b},
       {F({2}, {20, 42}), F({2}, {4, 9})}},
      // b is held fixed, and fed another value.
      {"g (float[2] a, float[2] b) => (float[2] p)" + square +
           "p" ASSAY_GRADIENT "<xs = [\"a\"], zs = [\"b\"], y = \"d\">(a, a) }",
       {a, b},
       {F({2}, {8, 18})}},
      // c is independent here.
      {"g (float[2] a, float[2] b) => (float[2] p, float[2] q)" + square +
           "p, q" ASSAY_GRADIENT "<xs = [\"c\", \"a\"], y = \"d\">(b, a) }",
       {a, b},
       {F({2}, {2, 3}), F({2}, {5, 7})}},
      // The gradient of the sum of y's elements, and of a fixed factor.
      {"g (double[1] a) => (double[1] p) <double[2] w = {5.0, 7.0}> "
       "{ d = Mul(w, a) p" ASSAY_GRADIENT "<xs = [\"a\"], y = \"d\">(a) }",
       {D({1}, {2})},
       {D({1}, {12})}},
      {"g (double[1] a) => (double[2] p) <double[2] w = {5.0, 7.0}> "
       "{ d = Mul(w, a) p" ASSAY_GRADIENT
       "<xs = [\"w\"], zs = [\"a\"], y = \"d\">(w, a) }",
       {D({1}, {2})},
       {D({2}, {2, 2})}},
      // Kernels without a backward, one of which runs a subgraph.
      {"g (float[2] a) => (float[2] p) "
       "{ d = Sqrt(a) p" ASSAY_GRADIENT "<xs = [\"a\"], y = \"d\">(a) }",
       {F({2}, {4, 16})},
       {F({2}, {0.25, 0.125})}},
      {"g (float[2] a, bool t) => (float[2] p) <float[2] w = {5.0, 7.0}> "
       "{ d = If(t) <then_branch = n () => (float[2] m) { m = Mul(w, a) }, "
       "else_branch = e () => (float[2] k) { k = Abs(a) }> "
       "p" ASSAY_GRADIENT "<xs = [\"a\"], zs = [\"t\"], y = \"d\">(a, t) }",
       {F({2}, {4, 16}), B({}, {1})},
       {F({2}, {5, 7})}},
      // y is x itself, and y does not depend on x.
      {"g (float[2] a, float[2] b) => (float[2] p, float[2] q) "
       "{ p, q" ASSAY_GRADIENT "<xs = [\"a\", \"b\"], y = \"a\">(a, b) }",
       {a, b},
       {F({2}, {1, 1}), F({2}, {0, 0})}},
  });
}

// The gradient of a sum of multiples of ones, by kernels that save for
// backward, is that sum's terms.
TEST(Gradient, PassesThroughWhatWasDrawn) {
  const std::vector<Feed> feeds = {F({64}, std::vector<double>(64, 1)),
                                   B({}, {1})};
  for (const char* const drawing :
       {"d = Dropout<seed = 7>(a, , t) ",
        "d = If(t) <then_branch = n () => (float[64] m) "
        "{ m = Dropout<seed = 7>(a, , t) }, "
        "else_branch = e () => (float[64] k) { k = Abs(a) }> "}) {
    const auto outputs =
        OutputsOf("g (float[64] a, bool t) => (float[64] d, float[64] p) { " +
                      std::string(drawing) +
                      "p" ASSAY_GRADIENT
                      "<xs = [\"a\"], zs = [\"t\"], y = \"d\">(a, t) }",
                  feeds);
    const auto terms = outputs[0].tensor()->elements<float>();
    EXPECT_TRUE(
        std::ranges::equal(outputs[1].tensor()->elements<float>(), terms))
        << drawing;
    EXPECT_EQ(std::ranges::count(terms, 0) + std::ranges::count(terms, 2), 64);
  }
}

// y = x^2 from x = 3: 3 - (2 * 3 + 0) / 4, and the value there in the same run.
TEST(Gradient, FeedsAnOptimizer) {
  ExpectRows(
      {{"g (float r, int64 t, float[1] x, float[1] v) => "
        "(float[1] xn, float[1] vn, float[1] z) "
        "{ y = Mul(x, x) dx" ASSAY_GRADIENT "<xs = [\"x\"], y = \"y\">(x) "
        "xn, vn = ai.onnx.preview.training.Momentum<alpha = 0.5, "
        "beta = 1.0, norm_coefficient = 0.0, mode = \"standard\">"
        "(r, t, x, dx, v) w = Add(dx, x) z = Relu(w) }",
        {F({}, {0.25}), T(0), F({1}, {3}), F({1}, {0})},
        {F({1}, {1.5}), F({1}, {6}), F({1}, {9})}}});
}

TEST(Gradient, SaysWhatItCannotDifferentiate) {
  const std::string square =
      std::string("g (float[2] a, float[2] b) => (float[2] p)") + kSquare;
  const std::vector<Feed> feeds = {F({2}, {2, 3}), F({2}, {5, 7})};
  ExpectRefusals({
      {square + "p" ASSAY_GRADIENT "<xs = [\"a\"], y = \"e\">(a) }", feeds,
       "'e' is no value of the graph"},
      {square + "p" ASSAY_GRADIENT "<xs = [\"a\"], y = \"d\">(a) }", feeds,
       "'d' depends on 'b'"},
      {square + "p" ASSAY_GRADIENT
                "<xs = [\"a\"], zs = [\"a\"], y = \"d\">(a, b) }",
       feeds, "'a' stands twice"},
      {square + "p" ASSAY_GRADIENT
                "<xs = [\"a\"], zs = [\"b\"], y = \"d\">(a) }",
       feeds, "found 1 inputs, wanted 2"},
      {square +
           "q" ASSAY_GRADIENT "<xs = [\"a\"], zs = [\"b\"], y = \"d\">(a, b) "
           "p" ASSAY_GRADIENT "<xs = [\"a\"], zs = [\"b\"], y = \"q\">(a, b) }",
       feeds, "derivatives of derivatives", StatusCode::kUnsupported},
      {"g (float[2] a) => (int64[2] d, float[2] p) "
       "{ d = Cast<to = 7>(a) p" ASSAY_GRADIENT
       "<xs = [\"a\"], y = \"d\">(a) }",
       {F({2}, {2, 3})},
       "no tensor of floats of 16 to 64 bits",
       StatusCode::kUnsupported},
  });
}

}  // namespace
}  // namespace assay::reference
