// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of every kind against the reference: groups, strides,
// dilations and uneven pads together, over one to three spatial axes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/onednn/ops/operands.h"
#include "backends/onednn/primitive/test_graph_fixture.h"

namespace assay::onednn {
namespace {

using Dims = std::vector<int64_t>;

struct ConvolutionCase {
  int64_t batch, channels, kernels, groups;  // kernels: output channels
  Dims image, kernel, strides, dilations, pads;
  Dims extra = {};  // output_padding
};

const ConvolutionCase kConvolutionCases[] = {
    {2, 4, 6, 2, {7}, {3}, {1}, {2}, {2, 1}},
    {1, 3, 3, 3, {8}, {2}, {3}, {1}, {0, 2}},
    {1, 4, 4, 2, {6, 5}, {3, 2}, {2, 1}, {1, 2}, {1, 0, 2, 1}},
    {2, 2, 4, 1, {5, 5}, {2, 2}, {1, 1}, {2, 2}, {0, 1, 1, 0}},
    {1, 6, 6, 6, {5, 6}, {3, 3}, {1, 2}, {1, 1}, {1, 1, 0, 2}},
    {1,
     2,
     2,
     2,
     {4, 3, 5},
     {2, 1, 3},
     {1, 1, 2},
     {2, 1, 1},
     {1, 0, 1, 0, 0, 2}},
};

Dims Joined(Dims first, const Dims& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

Tensor Drawn(const char* name, const Dims& dims) {
  return Floats(Shape(dims), Random(name, CountOf(dims)));
}

/// The node over x and weights of these first two extents, against the same of
/// the reference.
void ExpectConvolution(const std::string& name, const ConvolutionCase& row,
                       const Dims& channels) {
  const Dims x = Joined({row.batch, row.channels}, row.image);
  const Dims w = Joined(channels, row.kernel);
  std::string more, y = "N,C";
  for (size_t i = 0; i < row.image.size(); ++i) y += StrCat(",S", i);
  if (!row.extra.empty()) more = ", output_padding = " + List(row.extra);
  ExpectAsReference(
      StrCat("g (float", List(x), " x, float", List(w), " w, float[",
             row.kernels, "] b) => (float[", y, "] y) { y = ", name,
             " <group = ", row.groups, ", strides = ", List(row.strides),
             ", dilations = ", List(row.dilations), ", pads = ", List(row.pads),
             more, "> (x, w, b) }"),
      {{"x", Drawn("x", x)},
       {"w", Drawn("w", w)},
       {"b", Drawn("b", {row.kernels})}},
      1e-4F);
}

TEST(Convolution, IsTheSumThatOnnxStates) {
  for (const ConvolutionCase& row : kConvolutionCases) {
    ExpectConvolution("Conv", row, {row.kernels, row.channels / row.groups});
  }
}

TEST(Convolution, TransposedIsItsAdjoint) {
  for (ConvolutionCase row : kConvolutionCases) {
    for (int64_t& pad : row.pads) pad = std::min<int64_t>(pad, 1);
    const Dims channels = {row.channels, row.kernels / row.groups};
    ExpectConvolution("ConvTranspose", row, channels);
    for (const int64_t stride : row.strides) row.extra.push_back(stride - 1);
    ExpectConvolution("ConvTranspose", row, channels);
  }
}

using ::testing::ElementsAre;

struct Ends {
  int64_t begin, end, stated_end, output;
};

struct Row {
  kernels::WindowAttributes attributes;
  int64_t input;
  Ends wanted;
};

void ExpectWindow(const Result<Window>& window, const Ends& wanted) {
  ASSERT_TRUE(window.ok()) << window.status().ToString();
  EXPECT_THAT(window->output, ElementsAre(wanted.output));
  EXPECT_THAT(window->pads_begin, ElementsAre(wanted.begin));
  EXPECT_THAT(window->pads_end, ElementsAre(wanted.end));
  EXPECT_THAT(window->stated_end, ElementsAre(wanted.stated_end));
}

TEST(Window, EndPadsGiveTheOutputRoundedDown) {
  const Row rows[] = {
      {{.kernel = {3}}, 5, {0, 0, 0, 3}},
      {{.kernel = {2}, .strides = {2}, .ceil_mode = true}, 5, {0, 1, 0, 3}},
      {{.kernel = {1}, .strides = {2}, .pads = {0, 1}, .ceil_mode = true},
       2,
       {0, 0, 1, 1}},
      {{.kernel = {1}, .strides = {3}, .auto_pad = "SAME_UPPER"},
       5,
       {0, 0, 0, 2}},
  };
  for (const Row& row : rows) {
    const int64_t input[] = {row.input};
    ExpectWindow(MakeWindow(row.attributes, input), row.wanted);
  }
}

TEST(Window, OutputPaddingComesOffTheEnd) {
  const Row rows[] = {
      {{.kernel = {3}, .strides = {2}, .output_padding = {1}},
       3,
       {0, -1, 0, 8}},
      {{.kernel = {3}, .strides = {2}, .auto_pad = "SAME_LOWER"},
       3,
       {1, 0, 0, 6}},
      {{.kernel = {3}, .strides = {3}, .output_shape = {10}},
       3,
       {0, -1, -1, 10}},
  };
  for (const Row& row : rows) {
    const int64_t input[] = {row.input};
    ExpectWindow(MakeTransposedWindow(row.attributes, input), row.wanted);
  }
}

TEST(Window, ADilationOfZeroIsDense) {
  const int64_t input[] = {5, 5};
  const auto window =
      MakeWindow({.kernel = {2, 2}, .dilations = {1, 3}}, input);
  ASSERT_TRUE(window.ok());
  EXPECT_THAT(window->dilations, ElementsAre(0, 2));
}

}  // namespace

}  // namespace assay::onednn
