// SPDX-License-Identifier: Apache-2.0
//
// The families that read images at other places than their own: what ONNX's
// cases do not reach, by values worked out by hand.

#include <gtest/gtest.h>

#include <numeric>

#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

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
      // Halved with antialias: a triangle of radius 2 around 0.5 and 2.5, the
      // edges repeated: (1 3 3 1) / 8 of (0 0 8 16), and of (8 16 24 24).
      Of("Resize<mode = \"linear\", antialias = 1>(x, , s)",
         {F({4}, {0, 8, 16, 24}), F({1}, {0.5})}, {F({2}, {5, 19})}),
      // Resize-19: a length of 1 is read at 0.
      Of("Resize<mode = \"cubic\", coordinate_transformation_mode = "
         "\"pytorch_half_pixel\">(x, , , n)",
         {F({4}, {1, 2, 4, 8}), I({1}, {1})}, {F({1}, {1})}),
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
