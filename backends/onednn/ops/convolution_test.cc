// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of every kind against loops over the formula: groups, strides,
// dilations and uneven pads together, over one to three spatial axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"

namespace assay::onednn {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using Dims = std::vector<int64_t>;

struct Case {
  int64_t batch, channels, kernels, groups;  // kernels: output channels
  Dims image, kernel, strides, dilations, pads;
  Dims extra = {};  // output_padding
};

const Case kCases[] = {
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
int64_t Place(const Dims& dims, const Dims& index) {
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

struct Tensors {
  Dims x, w, y;
  std::vector<float> in, weights, bias;
};

/// Where kernel place k over place o of the strided side meets the other side.
Dims Meets(const Case& row, const Dims& at, const Dims& k) {
  Dims place;
  for (size_t i = 0; i < row.image.size(); ++i) {
    place.push_back(at[i] * row.strides[i] + k[i] * row.dilations[i] -
                    row.pads[i]);
  }
  return place;
}

/// y[n,m,o] = b[m] + sum over c, k of x[n,c,o s + k d - p] w[m,c,k], in groups.
std::vector<float> Convolved(const Case& row, const Tensors& t) {
  const int64_t in = row.channels / row.groups;
  const int64_t out = row.kernels / row.groups;
  std::vector<float> y;
  ForEach(t.y, [&](const Dims& at) {
    double sum = t.bias[static_cast<size_t>(at[1])];
    const Dims o(at.begin() + 2, at.end());
    for (int64_t c = 0; c < in; ++c) {
      ForEach(row.kernel, [&](const Dims& k) {
        const int64_t from =
            Place(t.x, Joined({at[0], at[1] / out * in + c}, Meets(row, o, k)));
        const int64_t by = Place(t.w, Joined({at[1], c}, k));
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
std::vector<float> Deconvolved(const Case& row, const Tensors& t) {
  const int64_t in = row.channels / row.groups;
  const int64_t out = row.kernels / row.groups;
  std::vector<double> sums(static_cast<size_t>(CountOf(t.y)));
  ForEach(t.y, [&](const Dims& at) {
    sums[static_cast<size_t>(Place(t.y, at))] =
        t.bias[static_cast<size_t>(at[1])];
  });
  ForEach(t.x, [&](const Dims& at) {
    const Dims i(at.begin() + 2, at.end());
    for (int64_t m = 0; m < out; ++m) {
      ForEach(row.kernel, [&](const Dims& k) {
        const int64_t to =
            Place(t.y, Joined({at[0], at[1] / in * out + m}, Meets(row, i, k)));
        if (to < 0) return;
        sums[static_cast<size_t>(to)] +=
            double{t.in[static_cast<size_t>(Place(t.x, at))]} *
            t.weights[static_cast<size_t>(Place(t.w, Joined({at[1], m}, k)))];
      });
    }
  });
  return {sums.begin(), sums.end()};
}

Tensors Fill(const Case& row, const Dims& x, const Dims& w, const Dims& y) {
  return {x,
          w,
          y,
          Random("x", CountOf(x)),
          Random("w", CountOf(w)),
          Random("b", row.kernels)};
}

Tensors OfConvolution(const Case& row) {
  Dims y = {row.batch, row.kernels};
  for (size_t i = 0; i < row.image.size(); ++i) {
    const int64_t reach = (row.kernel[i] - 1) * row.dilations[i] + 1;
    const int64_t room =
        row.image[i] + row.pads[i] + row.pads[i + row.image.size()] - reach;
    y.push_back(room / row.strides[i] + 1);
  }
  return Fill(row, Joined({row.batch, row.channels}, row.image),
              Joined({row.kernels, row.channels / row.groups}, row.kernel), y);
}

Tensors OfTranspose(const Case& row) {
  Dims y = {row.batch, row.kernels};
  for (size_t i = 0; i < row.image.size(); ++i) {
    y.push_back(row.strides[i] * (row.image[i] - 1) +
                (row.kernel[i] - 1) * row.dilations[i] + 1 - row.pads[i] -
                row.pads[i + row.image.size()] +
                (row.extra.empty() ? 0 : row.extra[i]));
  }
  return Fill(row, Joined({row.batch, row.channels}, row.image),
              Joined({row.channels, row.kernels / row.groups}, row.kernel), y);
}

std::string Graph(const std::string& name, const Case& row, const Tensors& t) {
  std::string more;
  if (!row.extra.empty()) more = ", output_padding = " + List(row.extra);
  return "g (float" + List(t.x) + " x, float" + List(t.w) + " w, float" +
         List({row.kernels}) + " b) => (float" + List(t.y) +
         " y) { y = " + name + " <group = " + std::to_string(row.groups) +
         ", strides = " + List(row.strides) +
         ", dilations = " + List(row.dilations) + ", pads = " + List(row.pads) +
         more + "> (x, w, b) }";
}

void Expect(const std::string& name, const Case& row, const Tensors& t,
            const std::vector<float>& want) {
  const std::string graph = Graph(name, row, t);
  SCOPED_TRACE(graph);
  const Tensor y = RunGraph(graph, {{"x", Floats(Shape(t.x), t.in)},
                                    {"w", Floats(Shape(t.w), t.weights)},
                                    {"b", Floats({row.kernels}, t.bias)}});
  ASSERT_EQ(y.shape(), Shape(t.y));
  EXPECT_THAT(y.elements<float>(), Pointwise(FloatNear(1e-4F), want));
}

TEST(Convolution, IsTheSumThatOnnxStates) {
  for (const Case& row : kCases) {
    const Tensors t = OfConvolution(row);
    Expect("Conv", row, t, Convolved(row, t));
  }
}

TEST(Convolution, TransposedIsItsAdjoint) {
  for (Case row : kCases) {
    for (size_t i = 0; i < row.pads.size(); ++i) {
      row.pads[i] = std::min<int64_t>(row.pads[i], 1);
    }
    const Tensors t = OfTranspose(row);
    Expect("ConvTranspose", row, t, Deconvolved(row, t));
    Case padded = row;
    for (const int64_t stride : row.strides) padded.extra.push_back(stride - 1);
    const Tensors wide = OfTranspose(padded);
    Expect("ConvTranspose", padded, wide, Deconvolved(padded, wide));
  }
}

}  // namespace
}  // namespace assay::onednn
