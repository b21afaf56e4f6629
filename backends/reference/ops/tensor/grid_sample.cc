// SPDX-License-Identifier: Apache-2.0
//
// AffineGrid, and GridSample-22: the input at positions that a grid names, axis
// by axis a weighted sum of neighbours. Source: the page of GridSample-22 and,
// for what it leaves open, ONNX's reference implementation.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };
enum class Padding : uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Interpolation interpolation = Interpolation::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;

  static Result<Sampling> Of(const op::GridSample& op) {
    Sampling made;
    made.align_corners = op.align_corners != 0;
    if (op.mode == "nearest") {
      made.interpolation = Interpolation::kNearest;
    } else if (op.mode == "cubic") {
      made.interpolation = Interpolation::kCubic;
    } else if (op.mode != "linear") {
      return Unsupported(Reason::kAttribute, "mode is '", op.mode, "'");
    }
    if (op.padding_mode == "border") {
      made.padding = Padding::kBorder;
    } else if (op.padding_mode == "reflection") {
      made.padding = Padding::kReflection;
    } else if (op.padding_mode != "zeros") {
      return Unsupported(Reason::kAttribute, "padding_mode is '",
                         op.padding_mode, "'");
    }
    return made;
  }

  // -1 and 1 are the middles of the first and last element, or their edges.
  template <class T>
  T Denormalize(T x, int64_t extent) const {
    const T n = static_cast<T>(extent);
    const T half = T(1) / T(2);
    if (align_corners) return (x + T(1)) * half * (n - T(1));
    return ((x + T(1)) * n - T(1)) * half;
  }

  // True when a position that is moved to the border has another result than
  // one next to it that is not: a cubic one, of half a border.
  bool MovesJump() const {
    return interpolation == Interpolation::kCubic && !align_corners;
  }

  // x mirrored at the edges of the input until it is inside.
  template <class T>
  T Reflect(T x, int64_t extent) const {
    const T least = align_corners ? T(0) : T(-1) / T(2);
    const T range = static_cast<T>(align_corners ? extent - 1 : extent);
    if (!(Value(range) > 0)) return T(0);
    const T over = abs(x - least);
    const T turns = over / range;
    const auto folds = static_cast<int64_t>(Value(floor(turns)));
    NoteCell(turns, folds);
    const T rest = over - static_cast<T>(folds) * range;
    return folds % 2 == 0 ? least + rest : least + range - rest;
  }

  // Where neighbour i is read; -1 for a zero.
  int64_t Neighbour(int64_t i, int64_t extent) const {
    if (i >= 0 && i < extent) return i;
    switch (padding) {
      case Padding::kZeros:
        return -1;
      case Padding::kBorder:
        return std::clamp<int64_t>(i, 0, extent - 1);
      case Padding::kReflection:
        break;
    }
    const double mirrored = Reflect(static_cast<double>(i), extent);
    return std::clamp<int64_t>(static_cast<int64_t>(mirrored), 0, extent - 1);
  }
};

/// The neighbours of a position along one axis, and their weights.
template <class T>
struct Neighbours {
  int count = 0;
  std::array<int64_t, 4> at{};
  std::array<T, 4> weights{};

  void Add(int64_t i, T weight) {
    at.at(static_cast<size_t>(count)) = i;
    weights.at(static_cast<size_t>(count)) = weight;
    ++count;
  }
};

// Keys 1981 with a = -0.75.
template <class T>
T CubicWeight(T distance) {
  const T a = T(-3) / T(4);
  const T x = abs(distance);
  if (Value(x) <= 1) return ((a + T(2)) * x - (a + T(3))) * x * x + T(1);
  return ((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a;
}

template <class T>
Neighbours<T> NeighboursOf(const Sampling& how, T grid, int64_t extent) {
  T x = how.Denormalize(grid, extent);
  Neighbours<T> found;
  // Beyond this no neighbour is inside; NaN is nowhere either.
  const T far = static_cast<T>(extent) + T(4);
  // Only positions beyond the outermost elements, or their edges, are moved; of
  // others the neighbours may be outside.
  const T edge = how.align_corners ? T(0) : T(-1) / T(2);
  const T end = static_cast<T>(extent - 1) - edge;
  if (how.padding == Padding::kReflection && std::isfinite(Value(x))) {
    if (Before(x, edge) || Before(end, x)) x = how.Reflect(x, extent);
  } else if (how.padding == Padding::kBorder) {
    if (how.MovesJump() ? Less(x, edge) || Less(end, x)
                        : Before(x, edge) || Before(end, x)) {
      x = Min(Max(x, T(0)), static_cast<T>(extent - 1));
    }
  }
  if (!(Less(-far, x) && Less(x, far))) return found;
  if (how.interpolation == Interpolation::kNearest) {
    const double nearest = Value(nearbyint(x));
    NoteRounded(x, nearest);
    found.Add(how.Neighbour(static_cast<int64_t>(nearest), extent), T(1));
    return found;
  }
  const auto base = static_cast<int64_t>(Value(floor(x)));
  NoteCell(x, base);
  const T right = x - static_cast<T>(base);
  if (how.interpolation == Interpolation::kLinear) {
    found.Add(how.Neighbour(base, extent), T(1) - right);
    found.Add(how.Neighbour(base + 1, extent), right);
    return found;
  }
  for (int64_t k = -1; k <= 2; ++k) {
    found.Add(how.Neighbour(base + k, extent),
              CubicWeight(right - static_cast<T>(k)));
  }
  return found;
}

/// The weighted sum over the neighbours along axes [axis, axes.size()).
template <class X, class T>
X SumOf(const Scratch<Neighbours<T>>& axes, const Shape& image, size_t axis,
        const X* x, int64_t offset) {
  if (axis == axes.size()) return x[offset];
  const Neighbours<T>& here = axes[axis];
  const int64_t extent = image[static_cast<int>(axis)];
  X sum(0);
  for (size_t k = 0; k < static_cast<size_t>(here.count); ++k) {
    if (here.at[k] < 0) continue;
    sum += here.weights[k] *
           SumOf(axes, image, axis + 1, x, offset * extent + here.at[k]);
  }
  return sum;
}

/// In mode nearest: the neighbour itself, or none: a zero or the empty string.
template <class X, class T>
X NearestOf(const Scratch<Neighbours<T>>& axes, const Shape& image,
            const X* x) {
  int64_t offset = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].count == 0 || axes[k].at[0] < 0) return X{};
    offset = offset * image[static_cast<int>(k)] + axes[k].at[0];
  }
  return x[offset];
}

Result<Shape> SampledShape(const Shape& image, const Shape& grid) {
  const int axes = image.rank() - 2;
  if (axes < 1 || grid.rank() != image.rank() || grid[0] != image[0] ||
      grid[grid.rank() - 1] != axes) {
    return InvalidArgument("an input of shape ", image.ToString(),
                           " and a grid of shape ", grid.ToString());
  }
  return JoinedShape({image[0], image[1]}, SubShape(grid, 1, grid.rank() - 1));
}

/// Calls sample(near, image, line, element): `near` are the neighbours,
/// weighted in T, from which an element of Y is made of line `line` of X, an
/// image of one channel.
template <class T, class Sample>
void ForEachSample(const Sampling& how, const Shape& shape,
                   const Tensor& positions, const Sample& sample) {
  const Shape& places = positions.shape();
  const int axes = shape.rank() - 2;
  const Loaded<T> grid(positions);
  const Shape image = SubShape(shape, 2, shape.rank());
  const int64_t count = Extent(places, 1, places.rank() - 1);
  Scratch<Neighbours<T>> near(static_cast<size_t>(axes));
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t i = 0; i < count; ++i) {
      // The last axis comes first in the grid.
      const T* at = grid.data() + (n * count + i) * axes;
      for (int k = 0; k < axes; ++k) {
        near[static_cast<size_t>(k)] =
            NeighboursOf(how, at[axes - 1 - k], image[k]);
      }
      for (int64_t c = 0; c < shape[1]; ++c) {
        const int64_t line = n * shape[1] + c;
        sample(near, image, line, line * count + i);
      }
    }
  }
}

/// Elements computed as X, weighted in T.
template <class T, class X>
Status GridSample(const op::GridSample& op, const Sampling& how,
                  KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Shape& shape = input.shape();
  ASSAY_ASSIGN_OR_RETURN(const Shape sampled,
                         SampledShape(shape, run.input(op.grid).shape()));
  const Loaded<X> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<X>(run, op.y, input.dtype(), sampled));
  const int64_t size = Extent(shape, 2, shape.rank());
  ForEachSample<T>(
      how, shape, run.input(op.grid),
      [&](const auto& near, const Shape& image, int64_t line, int64_t element) {
        y[element] = SumOf(near, image, 0, x.data() + line * size, 0);
      });
  return OkStatus();
}

// Elements of any type, none of them looked at.
Status GridSampleByMoving(const op::GridSample& op, const Sampling& how,
                          KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Shape& shape = input.shape();
  ASSAY_ASSIGN_OR_RETURN(const Shape sampled,
                         SampledShape(shape, run.input(op.grid).shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.y, input.dtype(), sampled));
  const int64_t size = Extent(shape, 2, shape.rank());
  DispatchUnit(input.dtype(), [&]<class Unit>() {
    const Unit* const x = Units<Unit>(input);
    Unit* const to = MutableUnits<Unit>(*y);
    ForEachSample<double>(how, shape, run.input(op.grid),
                          [&](const auto& near, const Shape& image,
                              int64_t line, int64_t element) {
                            to[element] =
                                NearestOf(near, image, x + line * size);
                          });
  });
  return OkStatus();
}

// Where element i of n stands between -1 and 1, as for GridSample.
template <class T>
T Normalized(int64_t i, int64_t n, bool align_corners) {
  if (!align_corners) {
    return static_cast<T>(2 * i + 1) / static_cast<T>(n) - T(1);
  }
  return n == 1 ? T(0) : static_cast<T>(2 * i) / static_cast<T>(n - 1) - T(1);
}

// AffineGrid-20: theta [N, r, r + 1] times the position (x, y, ..., 1) of each
// element of an image of `size` [N, C, ..., H, W]. Its function body squeezes
// away N = 1.
template <class T>
Status AffineGrid(const op::AffineGrid& op, KernelContext& run) {
  const Tensor& input = run.input(op.theta);
  const Scratch<int64_t> size = IntegersOf(run.input(op.size));
  const auto axes = static_cast<int>(size.size()) - 2;
  if (axes < 1 || input.shape() != Shape{size[0], axes, axes + 1} ||
      std::ranges::any_of(size, [](int64_t n) { return n < 0; })) {
    return InvalidArgument("theta of shape ", input.shape().ToString(),
                           " for an image of size ", Shape(size).ToString());
  }
  const auto image = Shape(std::span(size).subspan(2));
  const Shape wanted = JoinedShape(JoinedShape({size[0]}, image), {axes});
  const Loaded<T> theta(input);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.grid, input.dtype(), wanted));
  const Strides strides = DenseStrides(image);
  const int64_t count = Extent(image, 0, axes);
  for (int64_t i = 0; i < size[0] * count; ++i) {
    for (int64_t row = 0; row < axes; ++row) {
      const T* const line =
          theta.data() + (i / count * axes + row) * (axes + 1);
      T sum = line[axes];
      for (int k = 0; k < axes; ++k) {
        const auto axis = static_cast<size_t>(axes - 1 - k);
        const int64_t at = i % count / strides[axis] % size[axis + 2];
        sum +=
            line[k] * Normalized<T>(at, size[axis + 2], op.align_corners != 0);
      }
      y[i * axes + row] = sum;
    }
  }
  return OkStatus();
}

Result<Kernel> MakeGridSample(const op::GridSample& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const auto how, Sampling::Of(op));
  const DType type = load.dtype(op.x);
  if (how.interpolation == Interpolation::kNearest && !IsFloatingPoint(type)) {
    return MovingKernel(load, op.x,
                        std::bind_front(&GridSampleByMoving, op, how));
  }
  if (IsComplex(type)) {
    return Kernel{.forward =
                      std::bind_front(&GridSample<double, Complex>, op, how)};
  }
  return Dispatch(load, op.x, kNumbers, [&]<class T>() -> Kernel {
    // Integers are weighted in double and truncated when stored.
    using Weighted = std::conditional_t<std::integral<T>, double, T>;
    return {.forward =
                std::bind_front(&GridSample<Weighted, Weighted>, op, how)};
  });
}

}  // namespace

Family GridSampleFamily() {
  return FamilyOf(Typed(kFloats, []<class T>() { return &AffineGrid<T>; }),
                  MakeGridSample);
}

}  // namespace assay::reference
