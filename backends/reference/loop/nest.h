// SPDX-License-Identifier: Apache-2.0
//
// Nest: one loop nest over several operands, each with its own stride per
// axis: 0 where it is broadcast, negative where it is read backwards. Axes that
// all operands step through alike are merged, so that the innermost loop is as
// long as it can be.
//
//   const Nest<3> nest = PairNest(a_shape, b_shape, y_shape);
//   nest.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
//     y[iy] = a[ia] + b[ib];
//   });

#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::reference {

using Strides = Dims;  // one an axis

/// Steps in elements through a dense row-major tensor.
Strides DenseStrides(const Shape& shape);

/// Steps through a dense tensor of shape `from` as if it were of shape `to`,
/// to which it broadcasts: 0 along axes that it repeats.
Strides BroadcastStrides(const Shape& from, const Shape& to);

/// The shape of the result (ONNX "Multidirectional Broadcasting"); invalid
/// argument with both shapes where they do not agree.
Result<Shape> Broadcast(const Shape& a, const Shape& b);

/// The product of the extents of axes [first, last).
int64_t Extent(const Shape& shape, int first, int last);

/// Axes [first, last) of a shape, and the axes of one and then of another.
Shape SubShape(const Shape& shape, int first, int last);
Shape JoinedShape(const Shape& a, const Shape& b);

/// `axis` counted from the front; invalid argument outside [-rank, rank).
Result<int> NormalizeAxis(int64_t axis, int rank);
inline Result<int> NormalizeAxis(int64_t axis, const Shape& shape) {
  return NormalizeAxis(axis, shape.rank());
}

/// A dense tensor seen along one axis: `outer` blocks of `count` elements that
/// are `inner` apart, `inner` of them side by side.
struct AxisView {
  /// Invalid argument for an axis outside [-rank, rank).
  static Result<AxisView> Of(const Shape& shape, int64_t axis);

  /// Calls body(start) for every line: elements start + i * inner, i < count.
  template <class Body>
  void ForEachLine(Body&& body) const {
    for (int64_t block = 0; block < outer; ++block) {
      for (int64_t i = 0; i < inner; ++i) body(block * count * inner + i);
    }
  }

  int64_t outer = 1;
  int64_t count = 1;
  int64_t inner = 1;
};

template <int kOperands>
class Nest {
 public:
  using Offsets = std::array<int64_t, kOperands>;

  /// `count` steps from the elements `at`, `step` apart.
  struct Row {
    Offsets at;
    Offsets step;
    int64_t count;
  };

  Nest(const Shape& extents, const std::array<Strides, kOperands>& strides) {
    for (int axis = 0; axis < extents.rank(); ++axis) {
      Offsets step;
      for (size_t k = 0; k < kOperands; ++k) {
        step[k] = strides[k][static_cast<size_t>(axis)];
      }
      Append(extents[axis], step);
    }
    if (axes_.empty()) axes_.push_back({1, {}});
  }

  /// Calls body(row) for every row, the outermost axis slowest.
  template <class Body>
  void ForEachRow(Body&& body, const Offsets& start = {}) const {
    for (const Axis& axis : axes_) {
      if (axis.extent == 0) return;
    }
    Row row{start, axes_.back().step, axes_.back().extent};
    Dims index(axes_.size() - 1, 0);
    while (true) {
      body(row);
      size_t axis = index.size();
      while (axis > 0 && index[axis - 1] + 1 == axes_[axis - 1].extent) {
        --axis;
        Advance(row.at, axes_[axis].step, -index[axis]);
        index[axis] = 0;
      }
      if (axis == 0) return;
      ++index[axis - 1];
      Advance(row.at, axes_[axis - 1].step, 1);
    }
  }

  /// Calls body(the element of each operand...) for every step of every row.
  template <class Body>
  void ForEach(Body&& body, const Offsets& start = {}) const {
    const auto visit = [&]<size_t... k>(const Row& row,
                                        std::index_sequence<k...>) {
      for (int64_t i = 0; i < row.count; ++i) {
        body((row.at[k] + i * row.step[k])...);
      }
    };
    ForEachRow(
        [&](const Row& row) {
          visit(row, std::make_index_sequence<kOperands>());
        },
        start);
  }

 private:
  struct Axis {
    int64_t extent;
    Offsets step;
  };

  static void Advance(Offsets& at, const Offsets& step, int64_t times) {
    for (size_t k = 0; k < kOperands; ++k) at[k] += times * step[k];
  }

  void Append(int64_t extent, const Offsets& step) {
    if (extent == 1) return;
    if (!axes_.empty() && extent > 0) {
      Axis& outer = axes_.back();
      bool alike = true;
      for (size_t k = 0; k < kOperands; ++k) {
        alike = alike && outer.step[k] == step[k] * extent;
      }
      if (alike) {
        outer = {outer.extent * extent, step};
        return;
      }
    }
    axes_.push_back({extent, step});
  }

  InlineVector<Axis, 8> axes_;
};

/// Pairs the elements of a and b, broadcast, with those of a dense y.
Nest<3> PairNest(const Shape& a, const Shape& b, const Shape& y);

}  // namespace assay::reference
