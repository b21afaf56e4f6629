// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "perf/overhead/natives.h"

namespace assay::overhead {
namespace {

using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix>;

/// Products of a few hundred terms in [0.5, 1.5)^2, summed in another order.
constexpr float kAlike = 1e-4F;

Status CheckNear(const Case& of, const Tensor& want, const Matrix& got) {
  const auto wanted = want.elements<float>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const float found = got.data()[i];
    if (std::abs(found - wanted[i]) <= kAlike * std::abs(wanted[i])) continue;
    return FailedPrecondition("Eigen's ", of.op, " gave ", found, " at ", i,
                              ", wanted ", wanted[i]);
  }
  return OkStatus();
}

View ViewOf(const Tensor& tensor, int64_t rows) {
  return {tensor.elements<float>().data(), rows, tensor.num_elements() / rows};
}

struct Product {
  Tensor a, b;
  int64_t rows_of_a, rows_of_b;
  Matrix y;

  void Run() { y.noalias() = ViewOf(a, rows_of_a) * ViewOf(b, rows_of_b); }
};

/// Columns of the image, an output pixel each, times the weights as rows.
struct Convolution {
  Tensor x, w;
  int64_t channels, extent;  // of a square image, padded by one around it
  Matrix columns, y;

  void Run() {
    FillColumns();
    y.noalias() = ViewOf(w, channels) * columns;
  }

 private:
  void FillColumns() {
    const float* const image = x.elements<float>().data();
    int64_t row = 0;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float* const plane = image + channel * extent * extent;
      for (int64_t up = -1; up <= 1; ++up) {
        for (int64_t left = -1; left <= 1; ++left) {
          FillRow(plane, up, left, columns.row(row++).data());
        }
      }
    }
  }
  void FillRow(const float* plane, int64_t up, int64_t left, float* to) const {
    const int64_t first = std::max<int64_t>(0, -left);
    const int64_t last = std::min(extent, extent - left);
    for (int64_t y0 = 0; y0 < extent; ++y0, to += extent) {
      const int64_t from = y0 + up;
      if (from < 0 || from >= extent) {
        std::fill_n(to, extent, 0.0F);
        continue;
      }
      const float* const line = plane + from * extent + (left + first);
      to[0] = to[extent - 1] = 0;
      std::copy_n(line, last - first, to + first);
    }
  }
};

/// Runs it once, checks it, and gives its calls.
template <class Subject>
Result<Calls> Checked(const Case& of, const Bound& bound, Subject subject) {
  const auto made = std::make_shared<Subject>(std::move(subject));
  made->Run();
  ASSAY_RETURN_IF_ERROR(CheckNear(of, bound.output, made->y));
  return Repeated([made] {
    made->Run();
    return OkStatus();
  });
}

}  // namespace

Result<Calls> EigenCalls(const Case& of, const Bound& bound) {
  const std::vector<Tensor>& from = bound.inputs;
  if (of.op == "MatMul") {
    const int64_t rows = of.inputs[0][0];
    return Checked(of, bound,
                   Product{from[0], from[1], rows, of.inputs[1][0],
                           Matrix(rows, of.inputs[1][1])});
  }
  if (of.op == "Conv") {
    const int64_t channels = of.inputs[0][1];
    const int64_t extent = of.inputs[0][2];
    return Checked(of, bound,
                   Convolution{from[0], from[1], channels, extent,
                               Matrix(channels * 9, extent * extent),
                               Matrix(channels, extent * extent)});
  }
  return Calls();
}

}  // namespace assay::overhead
