// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of every kind against loops over the formula: groups, strides,
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

using ::testing::FloatNear;
using ::testing::Pointwise;
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

/// Calls `visit` with every index below `dims`, in row-major order.
template <class F>
void ForEach(const Dims& dims, const F& visit) {
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < CountOf(dims); ++i) {
    visit(index);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

/// The row-major place of an index, -1 outside.
int64_t PlaceOf(const Dims& dims, const Dims& index) {
  int64_t place = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (index[i] < 0 || index[i] >= dims[i]) return -1;
    place = place * dims[i] + index[i];
  }
  return place;
}

Dims Joined(Dims first, const Dims& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

struct ConvolutionTensors {
  Dims x, w, y;
  std::vector<float> in, weights, bias;
};

/// Where kernel place k over place o of the strided side meets the other side.
Dims Meets(const ConvolutionCase& row, const Dims& at, const Dims& k) {
  Dims place;
  for (size_t i = 0; i < row.image.size(); ++i) {
    place.push_back(at[i] * row.strides[i] + k[i] * row.dilations[i] -
                    row.pads[i]);
  }
  return place;
}

/// y[n,m,o] = b[m] + sum over c, k of x[n,c,o s + k d - p] w[m,c,k], in groups.
std::vector<float> Convolved(const ConvolutionCase& row,
                             const ConvolutionTensors& t) {
  const int64_t in = row.channels / row.groups;
  const int64_t out = row.kernels / row.groups;
  std::vector<float> y;
  ForEach(t.y, [&](const Dims& at) {
    double sum = t.bias[static_cast<size_t>(at[1])];
    const Dims o(at.begin() + 2, at.end());
    for (int64_t c = 0; c < in; ++c) {
      ForEach(row.kernel, [&](const Dims& k) {
        const int64_t from = PlaceOf(
            t.x, Joined({at[0], at[1] / out * in + c}, Meets(row, o, k)));
        const int64_t by = PlaceOf(t.w, Joined({at[1], c}, k));
        if (from < 0) return;
        sum += double{t.in[static_cast<size_t>(from)]} *
               t.weights[static_cast<size_t>(by)];
      });
    }
    y.push_back(static_cast<float>(sum));
  });
  return y;
}

/// The transpose: x[n,c,i] w[c,m,k] goes to y[n,m,i s + k d - p], in groups.
std::vector<float> Deconvolved(const ConvolutionCase& row,
                               const ConvolutionTensors& t) {
  const int64_t in = row.channels / row.groups;
  const int64_t out = row.kernels / row.groups;
  std::vector<double> sums(static_cast<size_t>(CountOf(t.y)));
  ForEach(t.y, [&](const Dims& at) {
    sums[static_cast<size_t>(PlaceOf(t.y, at))] =
        t.bias[static_cast<size_t>(at[1])];
  });
  ForEach(t.x, [&](const Dims& at) {
    const Dims i(at.begin() + 2, at.end());
    for (int64_t m = 0; m < out; ++m) {
      ForEach(row.kernel, [&](const Dims& k) {
        const int64_t to = PlaceOf(
            t.y, Joined({at[0], at[1] / in * out + m}, Meets(row, i, k)));
        if (to < 0) return;
        sums[static_cast<size_t>(to)] +=
            double{t.in[static_cast<size_t>(PlaceOf(t.x, at))]} *
            t.weights[static_cast<size_t>(PlaceOf(t.w, Joined({at[1], m}, k)))];
      });
    }
  });
  return {sums.begin(), sums.end()};
}

ConvolutionTensors FillConvolution(const ConvolutionCase& row, const Dims& x,
                                   const Dims& w, const Dims& y) {
  return {x,
          w,
          y,
          Random("x", CountOf(x)),
          Random("w", CountOf(w)),
          Random("b", row.kernels)};
}

ConvolutionTensors OfConvolution(const ConvolutionCase& row) {
  Dims y = {row.batch, row.kernels};
  for (size_t i = 0; i < row.image.size(); ++i) {
    const int64_t reach = (row.kernel[i] - 1) * row.dilations[i] + 1;
    const int64_t room =
        row.image[i] + row.pads[i] + row.pads[i + row.image.size()] - reach;
    y.push_back(room / row.strides[i] + 1);
  }
  return FillConvolution(
      row, Joined({row.batch, row.channels}, row.image),
      Joined({row.kernels, row.channels / row.groups}, row.kernel), y);
}

ConvolutionTensors OfTranspose(const ConvolutionCase& row) {
  Dims y = {row.batch, row.kernels};
  for (size_t i = 0; i < row.image.size(); ++i) {
    y.push_back(row.strides[i] * (row.image[i] - 1) +
                (row.kernel[i] - 1) * row.dilations[i] + 1 - row.pads[i] -
                row.pads[i + row.image.size()] +
                (row.extra.empty() ? 0 : row.extra[i]));
  }
  return FillConvolution(
      row, Joined({row.batch, row.channels}, row.image),
      Joined({row.channels, row.kernels / row.groups}, row.kernel), y);
}

std::string ConvolutionGraph(const std::string& name,
                             const ConvolutionCase& row,
                             const ConvolutionTensors& t) {
  std::string more;
  if (!row.extra.empty()) more = ", output_padding = " + List(row.extra);
  return "g (float" + List(t.x) + " x, float" + List(t.w) + " w, float" +
         List({row.kernels}) + " b) => (float" + List(t.y) +
         " y) { y = " + name + " <group = " + std::to_string(row.groups) +
         ", strides = " + List(row.strides) +
         ", dilations = " + List(row.dilations) + ", pads = " + List(row.pads) +
         more + "> (x, w, b) }";
}

void ExpectConvolution(const std::string& name, const ConvolutionCase& row,
                       const ConvolutionTensors& t,
                       const std::vector<float>& want) {
  const std::string graph = ConvolutionGraph(name, row, t);
  SCOPED_TRACE(graph);
  const Tensor y = RunGraph(graph, {{"x", Floats(Shape(t.x), t.in)},
                                    {"w", Floats(Shape(t.w), t.weights)},
                                    {"b", Floats({row.kernels}, t.bias)}});
  ASSERT_EQ(y.shape(), Shape(t.y));
  EXPECT_THAT(y.elements<float>(), Pointwise(FloatNear(1e-4F), want));
}

TEST(Convolution, IsTheSumThatOnnxStates) {
  for (const ConvolutionCase& row : kConvolutionCases) {
    const ConvolutionTensors t = OfConvolution(row);
    ExpectConvolution("Conv", row, t, Convolved(row, t));
  }
}

TEST(Convolution, TransposedIsItsAdjoint) {
  for (ConvolutionCase row : kConvolutionCases) {
    for (size_t i = 0; i < row.pads.size(); ++i) {
      row.pads[i] = std::min<int64_t>(row.pads[i], 1);
    }
    const ConvolutionTensors t = OfTranspose(row);
    ExpectConvolution("ConvTranspose", row, t, Deconvolved(row, t));
    ConvolutionCase padded = row;
    for (const int64_t stride : row.strides) padded.extra.push_back(stride - 1);
    const ConvolutionTensors wide = OfTranspose(padded);
    ExpectConvolution("ConvTranspose", padded, wide, Deconvolved(padded, wide));
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
