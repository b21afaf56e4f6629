// SPDX-License-Identifier: Apache-2.0
//
// The families that move elements, normalize or convert, by a table; what
// kernels refuse; and the families that read images at other places than their
// own, where ONNX's cases do not reach.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

TEST(Kernels, ShapesChangeWithoutTheElements) {
  ExpectRows({
      Of("Reshape(x, s)",
         {F({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
          I({3}, {0, -1, 3})},
         {F({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}),
      Of("Reshape<allowzero = 1>(x, s)", {F({0, 3}, {}), I({2}, {3, 0})},
         {F({3, 0}, {})}),
      Of("Flatten<axis = -1>(x)", {F({2, 1, 2}, {1, 2, 3, 4})},
         {F({2, 2}, {1, 2, 3, 4})}),
      Of("Squeeze(x, a)", {F({1, 2, 1}, {1, 2}), I({1}, {-1})},
         {F({1, 2}, {1, 2})}),
      Of("Unsqueeze(x, a)", {F({2}, {1, 2}), I({2}, {-1, 0})},
         {F({1, 2, 1}, {1, 2})}),
      Of("Shape<start = -2, end = -1>(x)",
         {F({2, 3, 4}, std::vector<double>(24))}, {I({1}, {3})}),
      Of("Size(x)", {F({2, 0}, {})}, {I({}, {0})}),
      Of("y, m = Dropout(x)", {F({2}, {1, 2})},
         {F({2}, {1, 2}), B({2}, {1, 1})}),
  });
}

TEST(Kernels, MovementsPutElementsWhereTheyBelong) {
  ExpectRows({
      Of("Transpose(x)", {F({2, 3}, {1, 2, 3, 4, 5, 6})},
         {F({3, 2}, {1, 4, 2, 5, 3, 6})}),
      Of("Concat<axis = -2>(a, b, c)",
         {F({1, 2}, {1, 2}), F({0, 2}, {}), F({1, 2}, {3, 4})},
         {F({2, 2}, {1, 2, 3, 4})}),
      Of("a, b = Split <num_outputs = 2>(x)", {F({5}, {1, 2, 3, 4, 5})},
         {F({3}, {1, 2, 3}), F({2}, {4, 5})}),
      Of("Slice(x, s, e, a, t)",
         {F({5}, {1, 2, 3, 4, 5}), I({1}, {9}), I({1}, {-99}), I({1}, {0}),
          I({1}, {-2})},
         {F({3}, {5, 3, 1})}),
      Of("Slice(x, s, e)", {F({2}, {1, 2}), I({1}, {1}), I({1}, {1})},
         {F({0}, {})}),
      Of("Expand(x, s)", {F({2, 1}, {1, 2}), I({2}, {1, 2})},
         {F({2, 2}, {1, 1, 2, 2})}),
      Of("Tile(x, r)", {F({1, 2}, {1, 2}), I({2}, {2, 2})},
         {F({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})}),
      Of("Pad<mode = \"reflect\">(x, p)", {F({3}, {1, 2, 3}), I({2}, {1, 3})},
         {F({7}, {2, 1, 2, 3, 2, 1, 2})}),
      Of("Pad<mode = \"wrap\">(x, p)", {F({3}, {1, 2, 3}), I({2}, {2, 1})},
         {F({6}, {2, 3, 1, 2, 3, 1})}),
      Of("Pad(x, p, v)", {F({2, 1}, {1, 2}), I({4}, {-1, 1, 0, 1}), F({}, {7})},
         {F({1, 3}, {7, 2, 7})}),
      Of("Trilu<upper = 0>(x, k)", {F({2, 2}, {1, 2, 3, 4}), I({}, {-1})},
         {F({2, 2}, {0, 0, 3, 0})}),
  });
}

TEST(Kernels, IndexingReadsAndWritesWhereIndicesPoint) {
  ExpectRows({
      Of("Gather<axis = 1>(x, i)",
         {F({2, 3}, {1, 2, 3, 4, 5, 6}), I({2}, {-1, 0})},
         {F({2, 2}, {3, 1, 6, 4})}),
      Of("GatherElements(x, i)", {F({2, 2}, {1, 2, 3, 4}), I({1, 2}, {1, 0})},
         {F({1, 2}, {3, 2})}),
      Of("GatherND(x, i)", {F({2, 2}, {1, 2, 3, 4}), I({2, 1}, {1, -2})},
         {F({2, 2}, {3, 4, 1, 2})}),
      Of("ScatterElements<reduction = \"add\">(x, i, u)",
         {F({3}, {1, 2, 3}), I({2}, {-1, 2}), F({2}, {10, 20})},
         {F({3}, {1, 2, 33})}),
      Of("ScatterND(x, i, u)",
         {F({2, 2}, {1, 2, 3, 4}), I({1, 1}, {1}), F({1, 2}, {8, 9})},
         {F({2, 2}, {1, 2, 8, 9})}),
      Of("Compress<axis = 1>(x, c)", {F({2, 2}, {1, 2, 3, 4}), B({2}, {0, 1})},
         {F({2, 1}, {2, 4})}),
      {"g (float[2,2] x) => (int64[2,N] y) { y = NonZero(x) }",
       {F({2, 2}, {0, 1, kNan, 0})},
       {I({2, 2}, {0, 1, 1, 0})}},
      Of("OneHot(i, d, v)", {I({2}, {-1, 5}), I({}, {3}), F({2}, {7, 9})},
         {F({2, 3}, {7, 7, 9, 7, 7, 7})}),
      {"g (float a, float b, float c) => (float[N] y) { y = Range(a, b, c) }",
       {F({}, {1}), F({}, {0}), F({}, {-0.4})},
       {F({3}, {1, 0.6, 0.2})}},
      Of("ConstantOfShape(s)", {I({2}, {0, 2})}, {F({0, 2}, {})}),
  });
}

TEST(Kernels, NormalizationsFollowTheirFormulas) {
  const double unit = 1 / std::sqrt(1 + 1e-5F);
  ExpectRows({
      Of("BatchNormalization<epsilon = 0.0>(x, s, b, m, v)",
         {D({2, 1, 1}, {1, 5}), D({1}, {2}), D({1}, {3}), D({1}, {1}),
          D({1}, {4})},
         {D({2, 1, 1}, {3, 7})}),
      Of("y, om, ov = BatchNormalization <training_mode = 1, momentum = 0.75, "
         "epsilon = 0.0>(x, s, b, m, v)",
         {D({2, 1, 1}, {1, 5}), D({1}, {2}), D({1}, {3}), D({1}, {1}),
          D({1}, {8})},
         {D({2, 1, 1}, {1, 5}), D({1}, {1.5}), D({1}, {7})}),
      Of("InstanceNormalization(x, s, b)",
         {D({1, 2, 2}, {1, 3, 4, 6}), D({2}, {1, 2}), D({2}, {0, 5})},
         {D({1, 2, 2}, {-unit, unit, 5 - 2 * unit, 5 + 2 * unit})}),
      Of("LayerNormalization(x, s)", {D({2, 2}, {1, 3, 6, 4}), D({2}, {1, 2})},
         {D({2, 2}, {-unit, 2 * unit, unit, -2 * unit})}),
      Of("MeanVarianceNormalization<axes = [0, 2]>(x)",
         {F({2, 2, 2}, {1, 3, 4, 8, 3, 1, 8, 4})},
         {F({2, 2, 2}, {-1, 1, -1, 1, 1, -1, 1, -1})}),
      Of("MeanVarianceNormalization<axes = [-1]>(x)", {F({2}, {5, 5})},
         {F({2}, {0, 0})}),
      Of("LRN<size = 2, alpha = 2.0, beta = 1.0>(x)", {F({1, 3, 1}, {1, 2, 3})},
         {F({1, 3, 1}, {1.0 / 6, 2.0 / 14, 3.0 / 10})}),
  });
}

TEST(Kernels, CastsConvertOnce) {
  const Feed half = {DType::kFloat16, {2}, {1.0009765625, -2}};
  const Feed eighth = {DType::kFloat8E4M3FN, {2}, {1, -2}};
  ExpectRows({
      Of("Cast<to = 10>(x)", {D({2}, {1.0 + 0x1p-11 + 0x1p-40, -2})}, {half}),
      Of("Cast<to = 17>(x)", {half}, {eighth}),
      Of("Cast<to = 9>(x)", {F({3}, {0, 0.5, kNan})}, {B({3}, {0, 1, 1})}),
      Of("Cast<to = 7>(x)", {F({2}, {-1.9, 1.9})}, {I({2}, {-1, 1})}),
      Of("CastLike(x, l)", {B({2}, {0, 1}), F({1}, {0})}, {F({2}, {0, 1})}),
  });
}

TEST(Kernels, MoveStringsAndSixteenByteElements) {
  const auto text = Strings({2, 1}, {"left", "right"});
  const auto network =
      NetworkOf("g (string[2,1] x) => (string[1,2] y) { y = Transpose(x) }");
  const auto outputs = Got(assay::Run(*network, {{"x", text}}));
  EXPECT_THAT(outputs[0].tensor()->strings(), ElementsAre("left", "right"));

  std::vector<double> pairs = {1, 2, 3, 4};
  const auto complex = *Tensor::FromBytes(DType::kComplex128, {2},
                                          std::as_bytes(std::span(pairs)));
  const auto reversal = NetworkOf(
      "g (complex128[2] x, int64[1] i) => (complex128[1] y) "
      "{ y = Gather(x, i) }");
  const auto last =
      Got(assay::Run(*reversal, {{"x", complex}, {"i", I({1}, {1}).Make()}}));
  const auto* found = reinterpret_cast<const double*>(last[0].tensor()->data());
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[1], 4);
}

TEST(Kernels, CastParsesAndPrintsStrings) {
  const auto through = [](const std::string& type,
                          std::vector<std::string> texts) {
    const auto network =
        NetworkOf("g (string[N] x) => (string[N] y) { n = Cast <to = " + type +
                  "> (x) y = Cast <to = 8> (n) }");
    return assay::Run(*network, {{"x", Strings(std::move(texts))}});
  };
  const auto floats = Got(
      through("1", {"+1.50", "1e-3", "-INF", "nan", "3.14159274101257", "-0"}));
  EXPECT_THAT(floats[0].tensor()->strings(),
              ElementsAre("1.5", "0.001", "-INF", "NaN", "3.1415927", "-0"));
  const auto integers = Got(through("7", {"-9223372036854775808", "+7"}));
  EXPECT_THAT(integers[0].tensor()->strings(),
              ElementsAre("-9223372036854775808", "7"));
  for (const char* text : {"", "1.5x", "+-1", "0x10", " 1", "inf2"}) {
    EXPECT_EQ(through("1", {text}).status().code(),
              StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_EQ(through("7", {"1.5"}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Kernels, MoveElementsOfLessThanAByte) {
  ExpectRows({
      Of("Transpose(x)", {{DType::kInt4, {2, 3}, {1, -2, 3, -4, 5, -6}}},
         {{DType::kInt4, {3, 2}, {1, -4, -2, 5, 3, -6}}}),
      Of("Transpose(x)", {{DType::kUint2, {5, 1}, {0, 1, 2, 3, 1}}},
         {{DType::kUint2, {1, 5}, {0, 1, 2, 3, 1}}}),
      Of("Pad(x, p, c)",
         {{DType::kFloat4E2M1, {3}, {0.5, -6, 3}},
          I({2}, {1, 1}),
          {DType::kFloat4E2M1, {}, {-1}}},
         {{DType::kFloat4E2M1, {5}, {-1, 0.5, -6, 3, -1}}}),
      // Two outputs, of which the first is left out.
      Of(", y = Split(x, n)", {F({3}, {15, 8, 7}), I({2}, {1, 2})},
         {F({2}, {8, 7})}),
  });
}

// A wrong value is found in the run, a type or form that is not offered at
// Load.
TEST(Kernels, RefuseWithOperatorInputAndValue) {
  ExpectRefusals({
      {"g (float[N] a, float[M] b) => (float[K] y) { y = Add(a, b) }",
       {F({2}, {1, 2}), F({3}, {1, 2, 3})},
       "Add: shapes [2] and [3] do not broadcast: 2 against 3"},
      {"g (float[N,M] a, float[K,L] b) => (float[P,Q] y) { y = MatMul(a, b) }",
       {F({1, 2}, {1, 2}), F({1, 2}, {1, 2})},
       "MatMul: shapes [1,2] and [1,2] do not multiply: 2 columns against 1"},
      {"g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }",
       {F({2}, {1, 2}), I({1}, {2})},
       "Gather: index 2 is outside [-2, 2)"},
      {"g (float[2] x, int64[1] s) => (float[N] y) { y = Reshape(x, s) }",
       {F({2}, {1, 2}), I({1}, {3})},
       "Reshape: cannot view float32[2] as [3]"},
      {"g (float[2] x, int64[1] s) => (float[N] y) { y = Expand(x, s) }",
       {F({2}, {1, 2}), I({1}, {-2})},
       "Expand"},
      {"g (float[1,1,1,1,1,1] x) => (float[1,1,1,1,1,1] y) "
       "{ y = MaxPool <kernel_shape = [1, 1, 1, 1]> (x) }",
       {F({1, 1, 1, 1, 1, 1}, {1})},
       "one to three spatial axes",
       StatusCode::kUnsupported},
      {"g (float[N] a, float[M] b) => (float[K] y) { y = SwiGLU(a, b) }",
       {F({2}, {1, 2}), F({1}, {3})},
       "SwiGLU: inputs A and B of shapes [2] and [1], wanted the same"},
      {"g (float[N] x) => (float[N] y) "
       "{ y = MeanVarianceNormalization <axes = [1]> (x) }",
       {F({1}, {1})},
       "MeanVarianceNormalization: axis 1"},
      {"g (float[1,4,1,1] x) => (float[A,B,C,D] y) "
       "{ y = DepthToSpace <blocksize = 4294967296> (x) }",
       {F({1, 4, 1, 1}, {1, 2, 3, 4})},
       "DepthToSpace: an input of shape [1,4,1,1] does not divide into blocks "
       "of 4294967296"},
      {"g (float[1,1,0,0] x) => (float[A,B,C,D] y) "
       "{ y = SpaceToDepth <blocksize = 4294967296> (x) }",
       {F({1, 1, 0, 0}, {})},
       "does not divide into blocks of 4294967296"},
      {"g (float[1,4,1] x, int64[2] i, int64[2] b) => (float[A,B,C,D] y) "
       "{ y = Col2Im(x, i, b) }",
       {F({1, 4, 1}, {1, 2, 3, 4}), I({2}, {4294967296, 4294967296}),
        I({2}, {1, 1})},
       "Col2Im: ",
       StatusCode::kResourceExhausted},
      {"g (float[1,1,1] x, float[1,1,1] w, float[1,1,1] r) => "
       "(float[A,B,C,D] y) { y = RNN <hidden_size = 1099511627776> (x, w, r) "
       "}",
       {F({1, 1, 1}, {1}), F({1, 1, 1}, {1}), F({1, 1, 1}, {1})},
       "RNN: hidden_size is 1099511627776, and R has the shape [1,1,1]"},
      {"g (complex64[1] x) => (complex64[1] y) { y = Neg(x) }",
       {},
       "Neg: input 0 is complex64[1], which"},
  });
}

Feed U8(Shape shape, std::vector<double> values) {
  return {DType::kUint8, std::move(shape), std::move(values)};
}

std::vector<double> Integers(int64_t count, int64_t factor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<double>((i * factor + i * i) % 11 - 5));
  }
  return numbers;
}

double InnerProduct(const std::vector<double>& a,
                    const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct SamplingPair {
  const char* attributes;
  Shape x, w, y;
};

// <Conv(x, w), y> = <x, ConvTranspose(y, w)> with the same weights, exactly,
// since all are small whole numbers.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  const std::vector<SamplingPair> pairs = {
      {"strides = [3]", {1, 1, 7}, {1, 1, 4}, {1, 1, 2}},
      {"group = 2, strides = [3,1], dilations = [2,2], pads = [1,2,0,1]",
       {2, 4, 5, 6},
       {6, 2, 2, 3},
       {2, 6, 2, 5}},
      {"group = 3, pads = [1,0,1,1,0,1]",
       {1, 3, 3, 2, 4},
       {3, 1, 3, 1, 2},
       {1, 3, 3, 2, 5}}};
  for (const SamplingPair& p : pairs) {
    const Feed x = F(p.x, Integers(*p.x.NumElements(), 3));
    const Feed w = F(p.w, Integers(*p.w.NumElements(), 5));
    const Feed y = F(p.y, Integers(*p.y.NumElements(), 7));
    const std::string attributes = p.attributes;
    const Row conv = Of("Conv <" + attributes + "> (x, w)", {x, w}, {y});
    const Row transposed =
        Of("x = ConvTranspose <" + attributes + "> (y, w)", {y, w}, {x});
    const auto forth = NumbersOf(OutputsOf(conv.graph, conv.feeds)[0]);
    const auto back =
        NumbersOf(OutputsOf(transposed.graph, transposed.feeds)[0]);
    ASSERT_EQ(back.size(), x.values.size()) << attributes;
    EXPECT_NE(InnerProduct(forth, y.values), 0) << attributes;
    EXPECT_EQ(InnerProduct(forth, y.values), InnerProduct(x.values, back))
        << attributes;
  }
}

TEST(ConvTranspose, AddsItsBiasAndRefusesAnotherSize) {
  const std::string graph =
      "g (float[1,1,2] x, float[1,2,1] w, float[N] b) => (float[1,2,2] y) "
      "{ y = ConvTranspose (x, w, b) }";
  const Feed x = F({1, 1, 2}, {1, 2});
  const Feed w = F({1, 2, 1}, {10, 100});
  ExpectRows(
      {{graph, {x, w, F({2}, {1, 2})}, {F({1, 2, 2}, {11, 21, 102, 202})}}});
  EXPECT_EQ(Compute(graph, {x, w, F({1}, {1})}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Resize, WeightsPositionsAxisByAxis) {
  ExpectRows({
      // Integers are weighted exactly and truncated: 63.75 and 191.25.
      Of("Resize<mode = \"linear\">(x, , s)", {U8({2}, {0, 255}), F({1}, {2})},
         {U8({4}, {0, 63, 191, 255})}),
      // Positions -0.2, 0.4, 1, 1.6 and 2.2.
      Of("Resize (x, , , n)", {I({3}, {1, 2, 3}), I({1}, {5})},
         {I({5}, {1, 1, 2, 3, 3})}),
      // Positions -1, 0, 1 and 2 of a region that begins outside.
      Of("Resize<mode = \"linear\", extrapolation_value = 9.0, "
         "coordinate_transformation_mode = \"tf_crop_and_resize\">(x, roi, , "
         "n)",
         {F({3}, {1, 2, 3}), F({2}, {-0.5, 1}), I({1}, {4})},
         {F({4}, {9, 1, 2, 3})}),
      // floor(4 * 0.5 * 1.5) positions: 0, 0.75 and 1.5.
      Of("Resize<mode = \"linear\", coordinate_transformation_mode = "
         "\"tf_crop_and_resize\">(x, roi, s)",
         {F({4}, {1, 2, 3, 4}), F({2}, {0, 0.5}), F({1}, {1.5})},
         {F({3}, {1, 1.75, 2.5})}),
      // Halved with antialias: a triangle of radius 2 around 0.5 and 2.5, the
      // edges repeated: (1 3 3 1) / 8 of (0 0 8 16), and of (8 16 24 24).
      Of("Resize<mode = \"linear\", antialias = 1>(x, , s)",
         {F({4}, {0, 8, 16, 24}), F({1}, {0.5})}, {F({2}, {5, 19})}),
      // Resize-19: a length of 1 is read at 0.
      Of("Resize<mode = \"cubic\", coordinate_transformation_mode = "
         "\"pytorch_half_pixel\">(x, , , n)",
         {F({4}, {1, 2, 4, 8}), I({1}, {1})}, {F({1}, {1})}),
      Of("Resize<mode = \"linear\", coordinate_transformation_mode = "
         "\"pytorch_half_pixel\">(x, , s)",
         {F({4}, {1, 2, 4, 8}), F({1}, {0.3})}, {F({1}, {1})}),
      // An axis that is not named stays.
      Of("Resize<axes = [1]>(x, , s)", {F({2, 2}, {1, 2, 3, 4}), F({1}, {2})},
         {F({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4})}),
  });
}

TEST(Resize, RefusesWhatHasNoMeaning) {
  const Feed x = F({2}, {0, 1});
  const std::string by_scale =
      "g (float[2] x, float[N] s) => (float[M] y) { y = Resize (x, , s) }";
  for (const std::vector<double>& scales :
       {std::vector<double>{}, {0}, {-1}, {kNan}, {1e30}, {1, 1}}) {
    const auto got =
        Compute(by_scale, {x, F({std::ssize(scales)}, scales)}).status();
    EXPECT_EQ(got.code(), StatusCode::kInvalidArgument) << got.ToString();
  }
  EXPECT_EQ(Compute("g (float[2] x, float[1] s) => (float[M] y) "
                    "{ y = Resize <mode = \"quartic\"> (x, , s) }",
                    {x, F({1}, {1})})
                .status()
                .code(),
            StatusCode::kUnsupported);
}

TEST(GridSample, TakesAnyNumberOfSpatialAxes) {
  ExpectRows({
      Of("GridSample<align_corners = 1>(x, p)",
         {F({1, 1, 4}, {0, 10, 20, 30}), F({1, 3, 1}, {-1, 0, 1})},
         {F({1, 1, 3}, {0, 15, 30})}),
      // The edge is between element 3 and its mirror image; NaN is nowhere.
      Of("GridSample<padding_mode = \"reflection\">(x, p)",
         {F({1, 1, 4}, {0, 10, 20, 30}), F({1, 2, 1}, {1, kNan})},
         {F({1, 1, 2}, {30, 0})}),
  });
}

TEST(Pooling, UnpoolingPlacesByTheInferredExtents) {
  // Index 5 is row 1, column 1 of the 4 by 4 that pooling came from.
  ExpectRows({Of("MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, i, n)",
                 {F({1, 1, 2, 2}, {1, 2, 3, 4}),
                  I({1, 1, 2, 2}, {5, 7, 13, 15}), I({4}, {1, 1, 4, 5})},
                 {F({1, 1, 4, 5}, {0, 0, 0, 0, 0, 0, 1, 0, 2, 0,
                                   0, 0, 0, 0, 0, 0, 3, 0, 4, 0})})});
}

TEST(Detection, EqualScoresKeepTheirOrderAndAThresholdIsExclusive) {
  const std::string graph =
      "g (float[1,3,4] b, float[1,1,3] s, int64 m, float o, float t) => "
      "(int64[N,3] y) { y = NonMaxSuppression (b, s, m, o, t) }";
  const Feed apart = F({1, 3, 4}, {0, 0, 1, 1, 5, 5, 6, 6, 9, 9, 8, 8});
  ExpectRows({{graph,
               {apart, F({1, 1, 3}, {0.5, 0.75, 0.75}), I({}, {3}), F({}, {0}),
                F({}, {0.5})},
               {I({2, 3}, {0, 0, 1, 0, 0, 2})}}});
}

TEST(Pooling, ManySpatialAxesAreDeclinedWhenLoading) {
  RowBackend backend;
  for (const char* node : {"Conv (x, w)", "ConvTranspose (x, w)",
                           "MaxPool <kernel_shape = [1,1,1,1]> (x)",
                           "AveragePool <kernel_shape = [1,1,1,1]> (x)",
                           "LpPool <kernel_shape = [1,1,1,1]> (x)"}) {
    const auto loaded = backend.Load(
        ModelOf(std::string("g (float[1,1,2,2,2,2] x, float[1,1,1,1,1,1] w) "
                            "=> (float[A,B,C,D,E,F] y) { y = ") +
                node + " }"),
        {});
    EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported) << node;
  }
}

}  // namespace
}  // namespace assay::reference
