// SPDX-License-Identifier: Apache-2.0
//
// Rules by which the elements of a gradient stand elsewhere.

#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

// The last two extents: what a row is taken for a column.
Result<Tensor> Transposed2(const RanBack& ran) {
  const Shape& shape = ran.right.shape();
  if (shape.rank() < 2) return ran.right;
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  const int64_t area = rows * columns;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < ran.right.num_elements(); ++i) {
    const int64_t k = i % area;
    places.push_back(i - k + k % rows * columns + k / rows);
  }
  return Picked(ran.right, shape, places);
}

/// The last axis that is longer than one: its extent and its stride.
struct Axis {
  int64_t extent = 1, stride = 1;
};

Axis LastLongAxis(const Shape& shape) {
  Axis axis;
  for (int i = shape.rank(); i-- > 0 && axis.extent == 1;) {
    axis.stride *= axis.extent;
    axis.extent = shape[i];
  }
  return axis;
}

// A window that begins one element late.
Result<Tensor> Shifted(const RanBack& ran) {
  const Axis axis = LastLongAxis(ran.right.shape());
  const std::vector<double> right = Numbers(ran.right);
  return WithNumbers(ran.right, [&](int64_t i, double) {
    const bool first = i / axis.stride % axis.extent == 0;
    return first ? 0 : right[static_cast<size_t>(i - axis.stride)];
  });
}

Result<Tensor> Reversed(const RanBack& ran) {
  std::vector<int64_t> places;
  for (int64_t i = ran.right.num_elements(); i-- > 0;) places.push_back(i);
  return Picked(ran.right, ran.right.shape(), places);
}

}  // namespace

std::vector<GradientRule> PlaceGradientRules() {
  return {
      {"transposed", "", Transposed2},
      {"shifted", "", Shifted},
      {"reversed", "", Reversed},
  };
}

}  // namespace assay::faulty
