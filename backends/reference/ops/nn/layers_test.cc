// SPDX-License-Identifier: Apache-2.0
//
// DeformConv and MaxRoiPool by hand, and the backward of layers against the
// tape: pooling, products, normalizations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/reference/gradient_rows.h"
#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

// A line of 1, 2, 4, 8 and one tap of 1, at places shifted by `offsets`.
Row Shifted(std::vector<double> offsets, std::vector<double> wanted) {
  return Of("DeformConv(x, w, o)",
            {F({1, 1, 4}, {1, 2, 4, 8}), F({1, 1, 1}, {1}),
             F({1, 1, 4}, std::move(offsets))},
            {F({1, 1, 4}, std::move(wanted))});
}

TEST(DeformConv, InterpolatesBetweenNeighbours) {
  ExpectRows({
      Shifted({0, 0, 0, 0}, {1, 2, 4, 8}),
      Shifted({0.5, 0.5, 0.5, 0.5}, {1.5, 3, 6, 4}),
      Shifted({-0.25, -1, -1.75, 0.75}, {0.75, 1, 1.25, 2}),
      // Outside: by a whole element and more, and nowhere.
      Shifted({-1, 9, 1e30, 1}, {0, 0, 0, 0}),
      Shifted({kNan, kInf, -kInf, -3}, {0, 0, 0, 1}),
  });
}

// Taps of 1, 10, 100, 1000 tell which element each reads.
TEST(DeformConv, IsAConvolutionWithoutOffsets) {
  const Feed x = F({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Feed w = F({1, 1, 2, 2}, {1, 10, 100, 1000});
  const auto row = [&](const std::string& attributes, const Feed& y) {
    const Shape extents = {1, 8, y.shape[2], y.shape[3]};
    const auto count = static_cast<size_t>(*extents.NumElements());
    return Of("DeformConv<" + attributes + ">(x, w, o)",
              {x, w, F(extents, std::vector<double>(count, 0))}, {y});
  };
  ExpectRows({
      row("kernel_shape = [2, 2]", F({1, 1, 2, 2}, {5421, 6532, 8754, 9865})),
      row("dilations = [2, 2]", F({1, 1, 1, 1}, {9731})),
      row("strides = [1, 2], pads = [0, 1, 0, 0]",
          F({1, 1, 2, 2}, {4010, 6532, 7040, 9865})),
  });
}

// Two groups of one channel each, with offsets (down, right), a mask and a
// bias of their own.
TEST(DeformConv, KeepsGroupsOfChannelsAndOffsetsApart) {
  ExpectRows({
      Of("DeformConv<group = 2, offset_group = 2>(x, w, o, b, m)",
         {D({1, 2, 1, 2}, {1, 2, 10, 20}), D({2, 1, 1, 1}, {1, 1}),
          D({1, 4, 1, 2}, {0, 0, 1, 1, 0, 0, -0.5, -0.5}), D({2}, {100, 200}),
          D({1, 2, 1, 2}, {0.5, 1, 1, 2})},
         {D({1, 2, 1, 2}, {101, 100, 205, 230})}),
      // Two images, and both channels under one group of offsets.
      Of("DeformConv(x, w, o)",
         {F({2, 2, 1}, {1, 2, 3, 4}), F({1, 2, 1}, {1, 10}),
          F({2, 1, 1}, {0, 0.5})},
         {F({2, 1, 1}, {21, 21.5})}),
      // Four spatial axes, shifted along the last.
      Of("DeformConv(x, w, o)",
         {F({1, 1, 1, 1, 1, 2}, {1, 2}), F({1, 1, 1, 1, 1, 1}, {1}),
          F({1, 4, 1, 1, 1, 2}, {0, 0, 0, 0, 0, 0, 1, -1})},
         {F({1, 1, 1, 1, 1, 2}, {2, 1})}),
      Of("DeformConv(x, w, o)",
         {{DType::kBFloat16, {1, 1, 2}, {1, 3}},
          {DType::kBFloat16, {1, 1, 1}, {1}},
          {DType::kBFloat16, {1, 1, 2}, {0.5, 0}}},
         {{DType::kBFloat16, {1, 1, 2}, {2, 3}}}),
  });
}

TEST(DeformConv, RefusesWhatDoesNotFit) {
  const auto graph = [](const std::string& attributes) {
    return "g (float[1,1,a] x, float[1,1,b] w, float[1,c,d] o) => "
           "(float[1,1,e] y) { y = DeformConv<" +
           attributes + ">(x, w, o) }";
  };
  const Feed x = F({1, 1, 2}, {1, 2});
  const Feed w = F({1, 1, 1}, {1});
  const Feed o = F({1, 1, 2}, {0, 0});
  ExpectRefusals({
      {graph("group = 1"), {x, w, F({1, 2, 1}, {0, 0})}, "input offset"},
      {graph("group = 2"), {x, w, o}, "group is 2"},
      {graph("offset_group = 2"), {x, w, o}, "offset_group 2"},
      {graph("kernel_shape = [2]"), {x, w, o}, "kernel_shape is [2]"},
      {graph("strides = [0]"), {x, w, o}, "strides is [0]"},
      {graph("pads = [1]"), {x, w, o}, "pads is [1], wanted 2 numbers"},
      {graph("group = 1"), {x, F({1, 1, 3}, {1, 1, 1}), o}, "reaches over 3"},
  });
}

// Elements 1 to 16 in four lines of four.
Row Pooled(const std::string& attributes, std::vector<double> region,
           const Shape& extents, std::vector<double> wanted) {
  std::vector<double> image;
  for (int i = 1; i <= 16; ++i) image.push_back(i);
  return Of("MaxRoiPool<" + attributes + ">(x, r)",
            {F({1, 1, 4, 4}, image), F({1, 5}, std::move(region))},
            {F({1, 1, extents[0], extents[1]}, std::move(wanted))});
}

TEST(MaxRoiPool, TakesTheGreatestOfEachCell) {
  const std::string two = "pooled_shape = [2, 2]";
  ExpectRows({
      Pooled(two, {0, 0, 0, 3, 3}, {2, 2}, {6, 8, 14, 16}),
      // x1, y1, x2, y2, and pooled_shape is height, width.
      Pooled("pooled_shape = [1, 2]", {0, 2, 0, 3, 0}, {1, 2}, {3, 4}),
      Pooled("pooled_shape = [2, 1]", {0, 2, 0, 3, 0}, {2, 1}, {4, 4}),
      // Both cells have the middle one of three elements.
      Pooled(two, {0, 0, 0, 2, 2}, {2, 2}, {6, 7, 10, 11}),
      Pooled(two, {0, 1, 1, 1, 1}, {2, 2}, {6, 6, 6, 6}),
      // Corners the wrong way round are one element.
      Pooled(two, {0, 2, 2, 0, 0}, {2, 2}, {11, 11, 11, 11}),
      // Halves are rounded away from zero: from 1 to 2, and from 0 to 3.
      Pooled("pooled_shape = [1, 1], spatial_scale = 0.5", {0, 1, 1, 3, 3},
             {1, 1}, {11}),
      Pooled("pooled_shape = [1, 3], spatial_scale = 0.5", {0, 0, 0, 5, 0},
             {1, 3}, {2, 3, 4}),
      // Cells outside the image are zeros.
      Pooled("pooled_shape = [1, 2]", {0, 2, 0, 5, 0}, {1, 2}, {4, 0}),
      Pooled("pooled_shape = [1, 1]", {0, 9, 9, 10, 10}, {1, 1}, {0}),
  });
}

TEST(MaxRoiPool, ChoosesTheImageOfEachRegion) {
  ExpectRows({Of("MaxRoiPool<pooled_shape = [1, 1]>(x, r)",
                 {{DType::kFloat16, {2, 2, 1, 1}, {-1, -2, -3, -4}},
                  {DType::kFloat16, {2, 5}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
                 {{DType::kFloat16, {2, 2, 1, 1}, {-3, -4, -1, -2}}})});
}

TEST(MaxRoiPool, RefusesRegionsOfNoImage) {
  const std::string graph =
      "g (float[1,1,1,1] x, float[1,5] r) => (float[1,1,1,1] y) "
      "{ y = MaxRoiPool<pooled_shape = [1, 1]>(x, r) }";
  const Feed x = F({1, 1, 1, 1}, {1});
  ExpectRefusals({
      {graph, {x, F({1, 5}, {1, 0, 0, 0, 0})}, "region 0 is [1, 0"},
      {graph, {x, F({1, 5}, {-1, 0, 0, 0, 0})}, "of 1 images"},
      {graph, {x, F({1, 5}, {kNan, 0, 0, 0, 0})}, "region 0"},
      {graph, {x, F({1, 5}, {0, 0, kInf, 0, 0})}, "region 0"},
      {"g (float[1,1,1,1] x, float[1,5] r) => (float[1,1,a,b] y) "
       "{ y = MaxRoiPool<pooled_shape = [0, 1]>(x, r) }",
       {x, F({1, 5}, {0, 0, 0, 0, 0})},
       "pooled_shape is [0,1]"},
  });
}

Feed Filled(const Shape& shape) {
  return D(shape, Counting(*shape.NumElements()));
}

TEST(LayersBackward, OfPooling) {
  std::vector<GradientRow> rows;
  const Feed a = D({1, 2, 3, 4}, {1, 1, 2, 2, 1, 1, 2, 3,    0,    0, -1, 0,
                                  5, 5, 5, 5, 0, 0, 0, kNan, -0.0, 0, 0,  0});
  const auto add = [&](const char* attributes, const char* output) {
    for (const char* const name : {"MaxPool", "AveragePool", "LpPool"}) {
      rows.push_back(GradientOf(StrCat(name, " <", attributes, "> (a)"),
                                StrCat("double[", output, "] y"), {a}));
    }
  };
  add("kernel_shape = [2, 2]", "1,2,2,3");
  add("kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1", "1,2,2,2");
  add("kernel_shape = [2, 2], pads = [1, 0, 1, 1]", "1,2,4,4");
  add("kernel_shape = [2, 2], dilations = [2, 3]", "1,2,1,1");
  rows.push_back(
      GradientOf("AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1], "
                 "count_include_pad = 1> (a)",
                 "double[1,2,4,5] y", {a}));
  rows.push_back(GradientOf("LpPool <kernel_shape = [2, 2], p = 3> (a)",
                            "double[1,2,2,3] y", {a}));
  rows.push_back(GradientOf("y, z = MaxPool <kernel_shape = [2, 2]> (a)",
                            "double[1,2,2,3] y, int64[1,2,2,3] z", {a}));
  ExpectTheTapes(rows);
}

TEST(LayersBackward, OfProducts) {
  std::vector<GradientRow> rows = {
      GradientOf("Conv <group = 2> (a, b, c)", "double[1,4,3,2] y",
                 {Filled({1, 4, 4, 3}), Filled({4, 2, 2, 2}), Filled({4})}),
      GradientOf("Conv <pads = [1, 2], strides = [2], dilations = [1]> (a, b)",
                 "double[2,3,3] y", {Filled({2, 2, 5}), Filled({3, 2, 3})}),
      GradientOf("Conv <group = 2, dilations = [2]> (a, b)", "double[1,2,3] y",
                 {Filled({1, 2, 5}), Filled({2, 1, 2})}),
      GradientOf("Conv(a, b)", "double[1,3,2,2] y",
                 {Filled({1, 2, 2, 2}), Filled({3, 2, 1, 1})}),
      GradientOf("Conv(a, b)", "double[0,3,2,2] y",
                 {Filled({0, 2, 2, 2}), Filled({3, 2, 1, 1})}),
      GradientOf("ConvTranspose <group = 2> (a, b, c)", "double[1,2,3,4] y",
                 {Filled({1, 4, 2, 3}), Filled({4, 1, 2, 2}), Filled({2})}),
      GradientOf("ConvTranspose <strides = [2], pads = [1, 1], output_padding "
                 "= [1]> (a, b)",
                 "double[1,2,6] y", {Filled({1, 2, 3}), Filled({2, 2, 3})}),
      GradientOf("MatMul(a, b)", "double[2,2] y",
                 {Filled({2, 3}), Filled({3, 2})}),
      GradientOf(
          "Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (a, b, c)",
          "double[2,2] y", {Filled({3, 2}), Filled({2, 3}), Filled({1, 2})})};
  ExpectTheTapes(rows);
  // An element that nothing flows into has no influence.
  for (GradientRow& row : rows) {
    if (row.feeds[0].values.empty()) continue;
    row.feeds[0].values.back() = kNan;
    row.feeds[1].values.front() = kInf;
  }
  ExpectTheTapes(rows);
}

TEST(LayersBackward, OfNormalizations) {
  const Feed of_channels = D({4}, {0.5, 1, 2, 0.25});
  const Feed biases = D({4}, {1, 0, -1, 2});
  const Feed x = Filled({2, 4, 3});
  std::vector<GradientRow> rows = {
      GradientOf("BatchNormalization <epsilon = 0.01> (a, b, c, d, e)",
                 "double[2,4,3] y",
                 {x, of_channels, biases, biases, of_channels}),
      GradientOf("y, z, w = BatchNormalization <training_mode = 1, epsilon = "
                 "0.01, momentum = 0.7> (a, b, c, d, e)",
                 "double[2,4,3] y, double[4] z, double[4] w",
                 {x, of_channels, biases, biases, of_channels}),
      GradientOf("InstanceNormalization <epsilon = 0.01> (a, b, c)",
                 "double[2,4,3] y", {x, of_channels, biases}),
      GradientOf(
          "GroupNormalization <epsilon = 0.01, num_groups = 2> (a, b, c)",
          "double[2,4,3] y", {x, of_channels, biases}),
      GradientOf("LayerNormalization <axis = 1, epsilon = 0.01> (a, b, c)",
                 "double[2,4,3] y",
                 {x, D({4, 1}, {1, 2, 0.5, 3}), D({3}, {1, 2, 3})}),
      GradientOf("RMSNormalization <epsilon = 0.01> (a, b)", "double[2,4,3] y",
                 {x, D({3}, {1, 2, 0.5})}),
      GradientOf("MeanVarianceNormalization <axes = [0, 2]> (a)",
                 "double[2,4,3] y", {x}),
      GradientOf("LRN <size = 3, alpha = 0.5, beta = 0.75, bias = 1.0> (a)",
                 "double[2,4,3] y", {x}),
      GradientOf("LRN <size = 2, alpha = 0.5, beta = 0.5, bias = 2.0> (a)",
                 "double[2,4,3] y", {x})};
  ExpectTheTapes(rows);
  for (GradientRow& row : rows) row.feeds[0].values.back() = kNan;
  ExpectTheTapes(rows);
}

TEST(LayersBackward, OfTheMomentsOfALayer) {
  const GradientRow row =
      GradientOf("y, z, w = LayerNormalization <stash_type = 11> (a, b)",
                 "double[2,3] y, double[2,1] z, double[2,1] w",
                 {D({2, 3}, {1, 2, 4, -1, 0.25, 3}), D({3}, {1, 2, 0.5})});
  ExpectTheTapesIn(kGradientTypes[1], row);
}

TEST(LayersBackward, OfAttention) {
  const std::string y = "double[1,2,3,2] y";
  const std::vector<Feed> feeds = {Filled({1, 2, 3, 2}), Filled({1, 2, 4, 2}),
                                   Filled({1, 2, 4, 2})};
  const auto with = [&](const std::vector<Feed>& more) {
    std::vector<Feed> all = feeds;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  std::vector<GradientRow> rows = {
      GradientOf("Attention(a, b, c)", y, feeds),
      GradientOf("Attention <is_causal = 1, softcap = 0.5> (a, b, c)", y,
                 feeds),
      GradientOf("Attention <scale = 0.25> (a, b, c, d)", y,
                 with({D({3, 4}, {0, 1, -kInf, 2, -kInf, -kInf, -kInf, -kInf,
                                  0.5, 0, 0, 1})})),
      GradientOf("Attention(a, b, c, d)", y,
                 with({B({3, 3}, {1, 0, 1, 1, 1, 1, 0, 0, 0})})),
      GradientOf("Attention <q_num_heads = 4, kv_num_heads = 2> (a, b, c)",
                 "double[1,3,8] y",
                 {Filled({1, 3, 8}), Filled({1, 4, 4}), Filled({1, 4, 4})})};
  for (const char* const mode : {"0", "1", "2", "3"}) {
    rows.push_back(GradientOf(
        StrCat(
            "y, z, w, q = Attention <softcap = 2.0, qk_matmul_output_mode = ",
            mode, "> (a, b, c, d, e, f)"),
        y + ", double[1,2,5,2] z, double[1,2,5,2] w, double[1,2,3,5] q",
        with(
            {D({3, 5}, {0, 1, -kInf, 2, 0, -kInf, 1, 2, 3, 4, 0, 0, 0, 0, 0.5}),
             Filled({1, 2, 1, 2}), Filled({1, 2, 1, 2})})));
  }
  ExpectTheTapes(rows);
}

}  // namespace
}  // namespace assay::reference
