// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const auto graph = [](const std::string& attributes,
                        const std::string& extents) {
    return "g (float[1,1,3,3] x, float[1,1,2,2] w, float[1,8," + extents +
           "] o) => (float[1,1," + extents + "] y) { y = DeformConv<" +
           attributes + ">(x, w, o) }";
  };
  const Feed x = F({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Feed w = F({1, 1, 2, 2}, {1, 10, 100, 1000});
  const auto zeros = [](const Shape& shape) {
    return F(shape,
             std::vector<double>(static_cast<size_t>(*shape.NumElements()), 0));
  };
  ExpectRows({
      {graph("kernel_shape = [2, 2]", "2,2"),
       {x, w, zeros({1, 8, 2, 2})},
       {F({1, 1, 2, 2}, {5421, 6532, 8754, 9865})}},
      {graph("dilations = [2, 2]", "1,1"),
       {x, w, zeros({1, 8, 1, 1})},
       {F({1, 1, 1, 1}, {9731})}},
      {graph("strides = [1, 2], pads = [0, 1, 0, 0]", "2,2"),
       {x, w, zeros({1, 8, 2, 2})},
       {F({1, 1, 2, 2}, {4010, 6532, 7040, 9865})}},
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
  ExpectWrong({
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
  return {
      "g (float[1,1,4,4] x, float[1,5] r) => (float[1,1,p,q] y) "
      "{ y = MaxRoiPool<" +
          attributes + ">(x, r) }",
      {F({1, 1, 4, 4}, image), F({1, 5}, std::move(region))},
      {F({1, 1, extents[0], extents[1]}, std::move(wanted))}};
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
  ExpectWrong({
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

}  // namespace
}  // namespace assay::reference
