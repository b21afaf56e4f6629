// SPDX-License-Identifier: Apache-2.0
//
// Parts of normalizations: moments of groups of elements, how inputs divide
// into such groups, and the gradients, with formulas of Ioffe and Szegedy 2015:
// what flows into normalized elements flows on to the elements, and to the
// moments that all of a group share.

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

/// Taken in double at the least, and what is computed with them: of numbers far
/// from 0 the mean takes nearly all.
template <class T>
struct Moments {
  T mean;
  T variance;  // of the population

  T InverseDeviation(T epsilon) const {
    return T(1) / sqrt(variance + epsilon);
  }
};

/// Moments of `blocks` runs of `count` elements, `step` apart.
template <class T>
Moments<T> MomentsOf(const T* x, int64_t blocks, int64_t step, int64_t count) {
  const T n = static_cast<T>(blocks * count);
  T sum(0);
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t i = 0; i < count; ++i) sum += x[b * step + i];
  }
  const T mean = sum / n;
  T squares(0);
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t i = 0; i < count; ++i) {
      const T distance = x[b * step + i] - mean;
      squares += distance * distance;
    }
  }
  return {mean, squares / n};
}

/// Images, channels and elements of a channel of an input [N, C, ...].
struct ChannelPlan {
  int64_t images = 0;
  int64_t channels = 0;
  int64_t size = 1;

  static Result<ChannelPlan> Of(const Shape& shape) {
    if (shape.rank() < 2) {
      return InvalidArgument("an input of shape ", shape.ToString(),
                             ", wanted at least two axes");
    }
    return ChannelPlan{shape[0], shape[1], Extent(shape, 2, shape.rank())};
  }
};

/// Rows of the elements from `axis` on.
struct RowPlan {
  int64_t rows = 0;
  int64_t size = 0;
  Shape row_shape;  // extent 1 from the axis on

  static Result<RowPlan> Of(const Shape& shape, int64_t axis) {
    ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, shape));
    Shape row_shape = shape;
    for (int i = k; i < shape.rank(); ++i) row_shape[i] = 1;
    return RowPlan{Extent(shape, 0, k), Extent(shape, k, shape.rank()),
                   std::move(row_shape)};
  }
};

/// Groups of the elements along a set of axes.
struct AxesPlan {
  /// All axes where none are given.
  static Result<AxesPlan> Of(const Shape& shape,
                             std::span<const int64_t> given) {
    const Dims axes = AxesOrAll(given, !given.empty(), shape.rank());
    Shape apart = shape;  // the extents that have a mean each
    Shape together(Dims(static_cast<size_t>(shape.rank()), 1));
    for (const int64_t axis : axes) {
      ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, shape));
      together[k] = shape[k];
      apart[k] = 1;
    }
    return AxesPlan{Nest<1>(apart, {DenseStrides(shape)}),
                    Nest<1>(together, {DenseStrides(shape)})};
  }

  /// Calls body(at) for every group, with where its elements are.
  template <class Body>
  void ForEachGroup(const Body& body) const {
    Scratch<int64_t> at;
    groups.ForEach([&](int64_t group) {
      at.clear();
      members.ForEach([&](int64_t i) { at.push_back(i); }, {group});
      body(at);
    });
  }

  Nest<1> groups;
  Nest<1> members;
};

/// Added to the deviation of a MeanVarianceNormalization, as in its function
/// body.
inline constexpr float kLeastDeviation = 1e-9F;

// The gradients of all outputs, by all inputs that are wanted, of nodes that
// ran.
Status BatchNormalizationBackward(const op::BatchNormalization& op,
                                  GradientContext& run);
Status InstanceNormalizationBackward(const op::InstanceNormalization& op,
                                     GradientContext& run);
Status GroupNormalizationBackward(const op::GroupNormalization& op,
                                  GradientContext& run);
Status LayerNormalizationBackward(const op::LayerNormalization& op,
                                  GradientContext& run);
Status RmsNormalizationBackward(const op::RMSNormalization& op,
                                GradientContext& run);
Status MeanVarianceNormalizationBackward(
    const op::MeanVarianceNormalization& op, GradientContext& run);
Status LrnBackward(const op::LRN& op, GradientContext& run);

}  // namespace assay::reference
