// SPDX-License-Identifier: Apache-2.0
//
// Resize-19, axis by axis: each position of an output axis is a weighted sum of
// positions of the input axis. Source: the page of Resize-19 and, for what it
// leaves open, ONNX's reference implementation; decision 49 has the lengths.

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

/// One axis that is resized. W, here and below: double, or Var, on which
/// scales, positions and weights are recorded.
template <class W>
struct ResizeAxis {
  int axis = 0;
  int64_t input = 1;
  int64_t output = 1;
  W scale{1};
  W roi_start{0};
  W roi_end{1};
  bool exact = false;  // positions are, in any type
};

/// A power of two divides without a rounding.
bool IsPowerOfTwo(double scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5;
}

/// Nearest positions at a scale that is a power of two and does not move need
/// no notes: a backend that rounds finds the same. Crops, and modes that divide
/// by something else, are not among them.
bool HasExactPositions(const op::Resize& op) {
  const std::string& mode = op.coordinate_transformation_mode;
  return op.mode == "nearest" &&
         (mode == "asymmetric" || mode == "half_pixel" ||
          mode == "pytorch_half_pixel");
}

/// The input positions that one output position is made of.
template <class W>
struct Taps {
  bool outside = false;  // of the region: the extrapolation value
  Scratch<int64_t> at;
  Scratch<W> weights;
};

// coordinate_transformation_mode: where output position x stands in the input.
template <class W>
W Coordinate(const op::Resize& op, const ResizeAxis<W>& a, W x) {
  const std::string& mode = op.coordinate_transformation_mode;
  const W one(1);
  const W half(0.5);
  const W extent = static_cast<W>(a.input);
  const W resized = a.scale * extent;  // a fraction, where scales are given
  if (mode == "asymmetric") return x / a.scale;
  const bool is_one = a.output == 1;
  if (mode == "align_corners") {
    return is_one ? W(0) : x * (extent - one) / (resized - one);
  }
  if (mode == "tf_crop_and_resize") {
    const W last = extent - one;
    if (is_one) return half * (a.roi_start + a.roi_end) * last;
    return a.roi_start * last +
           x * (a.roi_end - a.roi_start) * last / static_cast<W>(a.output - 1);
  }
  const W half_pixel = (x + half) / a.scale - half;
  if (mode == "pytorch_half_pixel") return is_one ? W(0) : half_pixel;
  if (mode == "half_pixel_symmetric") {
    const W adjustment = static_cast<W>(a.output) / resized;
    return extent * half * (one - adjustment) + half_pixel;
  }
  return half_pixel;
}

// nearest_mode, for a position `ratio` in (0, 1] right of position 0: whether
// position 1 is taken.
template <class W>
bool TakesRight(const std::string& mode, W ratio) {
  if (mode == "ceil") {
    static_cast<void>(Less(W(0), ratio));
    return true;
  }
  if (mode == "floor") return !Less(ratio, W(1));
  return mode == "round_prefer_ceil" ? !Less(ratio, W(0.5))
                                     : Less(W(0.5), ratio);
}

// The filters, at a distance from their middle.
template <class W>
W Triangle(W distance) {
  return Max(W(0), W(1) - abs(distance));
}
// Keys 1981, with its parameter a. The formulas meet smoothly.
template <class W>
W Cubic(W distance, W a) {
  const W x = abs(distance);
  if (Value(x) <= 1) return ((a + W(2)) * x - (a + W(3))) * x * x + W(1);
  return Value(x) < 2 ? ((a * x - W(5) * a) * x + W(8) * a) * x - W(4) * a
                      : W(0);
}

// Weights of a filter at the positions base - reach + 1 to base + reach, the
// wanted one being `ratio` right of base; `shrink` < 1 widens it (antialias).
template <class W>
void AddFilter(const op::Resize& op, int64_t base, W ratio, W shrink,
               Taps<W>& taps) {
  const bool cubic = op.mode == "cubic";
  const double radius = (cubic ? 2 : 1) / Value(shrink);
  const auto first = static_cast<int64_t>(std::floor(-radius)) + 1;
  for (int64_t k = first; k <= 1 - first; ++k) {
    const W distance = shrink * (static_cast<W>(k) - ratio);
    taps.at.push_back(base + k);
    taps.weights.push_back(cubic ? Cubic(distance, W(op.cubic_coeff_a))
                                 : Triangle(distance));
  }
}

// Repeats the edges of the input, or leaves out what is beyond them; where the
// weights are those of a wider filter, or some are left out, they are made to
// sum to one.
template <class W>
void Confine(bool exclude, bool normalize, int64_t extent, Taps<W>& taps) {
  W sum(0);
  for (size_t i = 0; i < taps.at.size(); ++i) {
    const bool outside = taps.at[i] < 0 || taps.at[i] >= extent;
    if (outside && exclude) taps.weights[i] = W(0);
    taps.at[i] = std::clamp<int64_t>(taps.at[i], 0, extent - 1);
    sum += taps.weights[i];
  }
  if (!exclude && !normalize) return;
  for (W& weight : taps.weights) weight /= sum;
}

template <class W>
Taps<W> TapsOf(const op::Resize& op, const ResizeAxis<W>& a, int64_t position) {
  const W x = Coordinate(op, a, static_cast<W>(position));
  Taps<W> taps;
  taps.outside = op.coordinate_transformation_mode == "tf_crop_and_resize" &&
                 (Less(x, W(0)) || Less(static_cast<W>(a.input - 1), x));
  if (taps.outside || a.input == 0) return taps;
  // The pixel on the left is preferred: ratio is in (0, 1].
  const W bounded = Min(Max(x, W(-1)), static_cast<W>(a.input));
  const auto base = static_cast<int64_t>(std::ceil(Value(bounded))) - 1;
  const W ratio = bounded - static_cast<W>(base);
  if (op.mode == "nearest") {
    taps.at = {base + (TakesRight(op.nearest_mode, ratio) ? 1 : 0)};
    taps.weights = {W(1)};
  } else {
    NoteCell(bounded, base);
    const bool widens = op.antialias != 0 && Value(a.scale) < 1;
    AddFilter(op, base, ratio, widens ? a.scale : W(1), taps);
  }
  Confine(op.exclude_outside != 0 && op.mode != "nearest", op.antialias != 0,
          a.input, taps);
  return taps;
}

/// The axes that the node resizes, in its own order.
template <class W>
Result<Scratch<ResizeAxis<W>>> AxesOf(const op::Resize& op, const Shape& x) {
  Scratch<ResizeAxis<W>> axes;
  if (op.axes.empty()) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      axes.push_back({.axis = axis, .input = x[axis]});
    }
  }
  for (const int64_t given : op.axes) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(given, x));
    axes.push_back({.axis = axis, .input = x[axis]});
  }
  return axes;
}

/// The extent of an axis, as a whole number: it shows in the shape.
template <class W>
int64_t CutExtent(W extent) {
  const double whole = std::floor(Value(extent));
  NoteBetween(W(whole), extent, W(whole + 1));
  return static_cast<int64_t>(whole);
}

// sizes, under keep_aspect_ratio_policy.
template <class W>
void Fit(const op::Resize& op, const Scratch<int64_t>& sizes,
         Scratch<ResizeAxis<W>>& axes) {
  const bool stretches = op.keep_aspect_ratio_policy == "stretch";
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].output = sizes[i];
    axes[i].scale = static_cast<W>(sizes[i]) /
                    static_cast<W>(std::max<int64_t>(axes[i].input, 1));
    axes[i].exact = stretches && HasExactPositions(op) &&
                    IsPowerOfTwo(Value(axes[i].scale));
  }
  if (stretches || axes.empty()) return;
  const auto [least, greatest] = std::ranges::minmax(
      axes, {}, [](const ResizeAxis<W>& axis) { return Value(axis.scale); });
  const bool smaller = op.keep_aspect_ratio_policy == "not_larger";
  const W scale = smaller ? least.scale : greatest.scale;
  for (ResizeAxis<W>& axis : axes) {
    axis.scale = scale;
    axis.output =
        CutExtent(scale * static_cast<W>(axis.input) + static_cast<W>(0.5));
  }
}

// scales: floor(input * (roi_end - roi_start) * scale), where the region is the
// whole axis but in crops.
template <class W>
Status Stretch(int64_t i, W scale, ResizeAxis<W>& axis) {
  axis.scale = scale;
  const W region = axis.roi_end - axis.roi_start;
  const W output = scale * static_cast<W>(axis.input) * region;
  const bool fits = Value(output) >= 0 && Value(output) < 0x1p40;
  if (!(Value(scale) > 0 && fits)) {
    return InvalidArgument("scale ", i, " is ", Value(scale), " of ",
                           Value(region), " of an axis of ", axis.input);
  }
  axis.output = axis.exact ? static_cast<int64_t>(std::floor(Value(output)))
                           : CutExtent(output);
  return OkStatus();
}

// Scales that are `fixed` are no operands.
template <class W>
Result<Scratch<ResizeAxis<W>>> PlanResize(const op::Resize& op, bool fixed,
                                          KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(auto axes, AxesOf<W>(op, run.input(op.x).shape()));
  const Loaded<W> scales(run.input(op.scales));
  const Scratch<int64_t> sizes = IntegersOf(run.input(op.sizes));
  const Loaded<W> roi(run.input(op.roi));
  const auto count = static_cast<int64_t>(axes.size());
  const auto given = static_cast<int64_t>(sizes.size());
  const bool crops = op.coordinate_transformation_mode == "tf_crop_and_resize";
  if ((scales.size() == count) == (given == count) && count > 0) {
    return InvalidArgument(scales.size(), " scales and ", given,
                           " sizes, wanted ", count, " of one of them");
  }
  if (crops && roi.size() != 2 * count) {
    return InvalidArgument("roi has ", roi.size(), " elements, wanted ",
                           2 * count);
  }
  for (int64_t i = 0; i < count; ++i) {
    ResizeAxis<W>& axis = axes[static_cast<size_t>(i)];
    if (crops) {
      axis.roi_start = roi[i];
      axis.roi_end = roi[i + count];
    }
    if (given != count) {
      axis.exact =
          fixed && HasExactPositions(op) && IsPowerOfTwo(Value(scales[i]));
      ASSAY_RETURN_IF_ERROR(Stretch(i, scales[i], axis));
    } else if (sizes[static_cast<size_t>(i)] < 0) {
      return InvalidArgument("size ", i, " is ", sizes[static_cast<size_t>(i)]);
    }
  }
  if (given == count) Fit(op, sizes, axes);
  return axes;
}

template <class W>
Scratch<Taps<W>> AllTaps(const op::Resize& op, const ResizeAxis<W>& axis) {
  Scratch<Taps<W>> taps;
  const ResizeAxis<double> exact{axis.axis, axis.input, axis.output,
                                 Value(axis.scale)};
  for (int64_t o = 0; o < axis.output; ++o) {
    if (axis.exact) {
      taps.push_back({.at = TapsOf(op, exact, o).at, .weights = {W(1)}});
    } else {
      taps.push_back(TapsOf(op, axis, o));
    }
  }
  return taps;
}

template <class W>
Shape ResizedShape(Shape shape, const Scratch<ResizeAxis<W>>& axes) {
  for (const ResizeAxis<W>& axis : axes) shape[axis.axis] = axis.output;
  return shape;
}

// One axis of x [outer, taps, inner]; y [outer, taps.size(), inner].
template <class T, class W>
void ResizeLine(const Scratch<Taps<W>>& taps, const AxisView& view, T outside,
                const T* x, T* y) {
  for (int64_t block = 0; block < view.outer; ++block) {
    for (const Taps<W>& each : taps) {
      std::fill_n(y, view.inner, each.outside ? outside : T(0));
      for (size_t k = 0; k < each.at.size(); ++k) {
        const T* from = x + (block * view.count + each.at[k]) * view.inner;
        const T weight = static_cast<T>(each.weights[k]);
        for (int64_t i = 0; i < view.inner; ++i) y[i] += weight * from[i];
      }
      y += view.inner;
    }
  }
}

template <class T>
Status ResizeByWeights(const op::Resize& op, KernelContext& run) {
  using W = std::conditional_t<std::same_as<T, Var>, Var, double>;
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto axes, PlanResize<W>(op, false, run));
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, input.dtype(),
                                          ResizedShape(input.shape(), axes)));
  const Loaded<T> x(input);
  Scratch<T> now(x.data(), x.data() + x.size());
  Shape shape = input.shape();
  for (const ResizeAxis<W>& axis : axes) {
    const Scratch<Taps<W>> taps = AllTaps(op, axis);
    ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(shape, axis.axis));
    shape[axis.axis] = axis.output;
    ASSAY_ASSIGN_OR_RETURN(const int64_t size, shape.NumElements());
    Scratch<T> next(static_cast<size_t>(size));
    ResizeLine(taps, view, T(op.extrapolation_value), now.data(), next.data());
    now = std::move(next);
  }
  std::ranges::copy(now, y.data());
  return OkStatus();
}

// Mode nearest outside of crops only moves elements.
template <class W>
Status ResizeByMoving(const op::Resize& op, bool fixed, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto axes, PlanResize<W>(op, fixed, run));
  Tensor now = input;
  for (const ResizeAxis<W>& axis : axes) {
    Shape shape = now.shape();
    shape[axis.axis] = axis.output;
    ASSAY_ASSIGN_OR_RETURN(auto next, Tensor::Allocate(now.dtype(), shape));
    const Strides from = DenseStrides(now.shape());
    const Strides to = DenseStrides(shape);
    const auto at = static_cast<size_t>(axis.axis);
    Shape slice = shape;
    slice[axis.axis] = 1;
    const Nest<2> nest(slice, {from, to});
    int64_t position = 0;
    for (const Taps<W>& taps : AllTaps(op, axis)) {
      if (!taps.at.empty()) {
        MoveElements(now, next, nest, taps.at[0] * from[at], position * to[at]);
      }
      ++position;
    }
    now = std::move(next);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.y, input.dtype(), now.shape()));
  const Strides dense = DenseStrides(now.shape());
  MoveElements(now, *y, Nest<2>(now.shape(), {dense, dense}));
  return OkStatus();
}

Status CheckModes(const op::Resize& op) {
  const auto check = [](std::string_view name, const std::string& found,
                        std::initializer_list<std::string_view> known) {
    if (std::ranges::find(known, found) != known.end()) return OkStatus();
    return Unsupported(Reason::kAttribute, name, " is '", found, "'");
  };
  ASSAY_RETURN_IF_ERROR(check("mode", op.mode, {"nearest", "linear", "cubic"}));
  ASSAY_RETURN_IF_ERROR(
      check("coordinate_transformation_mode", op.coordinate_transformation_mode,
            {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
             "align_corners", "asymmetric", "tf_crop_and_resize"}));
  ASSAY_RETURN_IF_ERROR(
      check("nearest_mode", op.nearest_mode,
            {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  return check("keep_aspect_ratio_policy", op.keep_aspect_ratio_policy,
               {"stretch", "not_larger", "not_smaller"});
}

Result<Kernel> MakeResize(const op::Resize& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckModes(op));
  if (op.mode == "nearest" &&
      op.coordinate_transformation_mode != "tf_crop_and_resize") {
    return MovingKernel(
        load, op.x,
        std::bind_front(load.options().exact ? &ResizeByMoving<Var>
                                             : &ResizeByMoving<double>,
                        op, load.constant(op.scales) != nullptr));
  }
  if (IsComplex(load.dtype(op.x))) {
    return Kernel{.forward = std::bind_front(&ResizeByWeights<Complex>, op)};
  }
  return Dispatch(load, op.x, kNumbers, [&]<class T>() -> Kernel {
    // Integers are weighted in double and truncated when stored.
    using Weighted = std::conditional_t<std::integral<T>, double, T>;
    return {.forward = std::bind_front(&ResizeByWeights<Weighted>, op)};
  });
}

}  // namespace

Family ResizeFamily() { return FamilyOf(MakeResize); }

}  // namespace assay::reference
