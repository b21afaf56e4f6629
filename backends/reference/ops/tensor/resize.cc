// SPDX-License-Identifier: Apache-2.0
//
// Resize-19, axis by axis: each position of an output axis is a weighted sum of
// positions of the input axis. Source: the page of Resize-19 and, for what it
// leaves open, ONNX's reference implementation.

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/loop/packed.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/complex.h"

namespace assay::reference {
namespace {

/// One axis that is resized.
struct ResizeAxis {
  int axis = 0;
  int64_t input = 1;
  int64_t output = 1;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

/// The input positions that one output position is made of.
struct Taps {
  bool outside = false;  // of the region: the extrapolation value
  std::vector<int64_t> at;
  std::vector<double> weights;
};

// coordinate_transformation_mode: where output position x stands in the input.
double Coordinate(const op::Resize& op, const ResizeAxis& a, double x) {
  const std::string& mode = op.coordinate_transformation_mode;
  const double extent = static_cast<double>(a.input);
  const double resized = a.scale * extent;
  if (mode == "asymmetric") return x / a.scale;
  if (mode == "align_corners") {
    return resized == 1 ? 0 : x * (extent - 1) / (resized - 1);
  }
  if (mode == "tf_crop_and_resize") {
    if (resized == 1) return 0.5 * (a.roi_start + a.roi_end) * (extent - 1);
    return a.roi_start * (extent - 1) +
           x * (a.roi_end - a.roi_start) * (extent - 1) / (resized - 1);
  }
  const double half_pixel = (x + 0.5) / a.scale - 0.5;
  if (mode == "pytorch_half_pixel") return resized == 1 ? -0.5 : half_pixel;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(a.output) / resized;
    return extent / 2 * (1 - adjustment) + half_pixel;
  }
  return half_pixel;
}

// nearest_mode, for a position `ratio` in (0, 1] right of position 0: whether
// position 1 is taken.
bool TakesRight(const std::string& mode, double ratio) {
  if (ratio == 1) return true;
  if (mode == "floor") return false;
  if (mode == "ceil") return true;
  return mode == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
}

// The filters, at a distance from their middle.
double Triangle(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}
// Keys 1981, with its parameter a.
double Cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Weights of a filter at the positions base - reach + 1 to base + reach, the
// wanted one being `ratio` right of base; `shrink` < 1 widens it (antialias).
void AddFilter(const op::Resize& op, int64_t base, double ratio, double shrink,
               Taps& taps) {
  const bool cubic = op.mode == "cubic";
  const double radius = (cubic ? 2 : 1) / shrink;
  const auto first = static_cast<int64_t>(std::floor(-radius)) + 1;
  for (int64_t k = first; k <= 1 - first; ++k) {
    const double distance = shrink * (static_cast<double>(k) - ratio);
    taps.at.push_back(base + k);
    taps.weights.push_back(cubic ? Cubic(distance, op.cubic_coeff_a)
                                 : Triangle(distance));
  }
}

// Repeats the edges of the input, or leaves out what is beyond them; where the
// weights are those of a wider filter, or some are left out, they are made to
// sum to one.
void Confine(bool exclude, bool normalize, int64_t extent, Taps& taps) {
  double sum = 0;
  for (size_t i = 0; i < taps.at.size(); ++i) {
    const bool outside = taps.at[i] < 0 || taps.at[i] >= extent;
    if (outside && exclude) taps.weights[i] = 0;
    taps.at[i] = std::clamp<int64_t>(taps.at[i], 0, extent - 1);
    sum += taps.weights[i];
  }
  if (!exclude && !normalize) return;
  for (double& weight : taps.weights) weight /= sum;
}

Taps TapsOf(const op::Resize& op, const ResizeAxis& a, int64_t position) {
  const double x = Coordinate(op, a, static_cast<double>(position));
  Taps taps;
  taps.outside = op.coordinate_transformation_mode == "tf_crop_and_resize" &&
                 (x < 0 || x > static_cast<double>(a.input - 1));
  if (taps.outside || a.input == 0) return taps;
  // The pixel on the left is preferred: ratio is in (0, 1].
  const double bounded = std::clamp(x, -1.0, static_cast<double>(a.input));
  const auto base = static_cast<int64_t>(std::ceil(bounded)) - 1;
  const double ratio = bounded - static_cast<double>(base);
  if (op.mode == "nearest") {
    taps.at = {base + (TakesRight(op.nearest_mode, ratio) ? 1 : 0)};
    taps.weights = {1};
  } else {
    const bool widens = op.antialias != 0 && a.scale < 1;
    AddFilter(op, base, ratio, widens ? a.scale : 1, taps);
  }
  Confine(op.exclude_outside != 0 && op.mode != "nearest", op.antialias != 0,
          a.input, taps);
  return taps;
}

/// The axes that the node resizes, in its own order.
Result<std::vector<ResizeAxis>> AxesOf(const op::Resize& op, const Shape& x) {
  std::vector<ResizeAxis> axes;
  if (op.axes.empty()) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      axes.push_back({.axis = axis, .input = x[axis]});
    }
  }
  for (const int64_t given : op.axes) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(given, x.rank()));
    axes.push_back({.axis = axis, .input = x[axis]});
  }
  return axes;
}

// sizes, under keep_aspect_ratio_policy.
void Fit(const op::Resize& op, const std::vector<int64_t>& sizes,
         std::vector<ResizeAxis>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].output = sizes[i];
    axes[i].scale = static_cast<double>(sizes[i]) /
                    static_cast<double>(std::max<int64_t>(axes[i].input, 1));
  }
  if (op.keep_aspect_ratio_policy == "stretch" || axes.empty()) return;
  const auto [least, greatest] = std::ranges::minmax(
      axes, {}, [](const ResizeAxis& axis) { return axis.scale; });
  const bool smaller = op.keep_aspect_ratio_policy == "not_larger";
  const double scale = smaller ? least.scale : greatest.scale;
  for (ResizeAxis& axis : axes) {
    axis.scale = scale;
    axis.output = static_cast<int64_t>(
        std::floor(scale * static_cast<double>(axis.input) + 0.5));
  }
}

Result<std::vector<ResizeAxis>> PlanResize(const op::Resize& op,
                                           KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(auto axes, AxesOf(op, run.input(op.x).shape()));
  const Loaded<double> scales(run.input(op.scales));
  const std::vector<int64_t> sizes = IntegersOf(run.input(op.sizes));
  const Loaded<double> roi(run.input(op.roi));
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
    ResizeAxis& axis = axes[static_cast<size_t>(i)];
    if (given != count) {
      axis.scale = scales[i];
      const double output = axis.scale * static_cast<double>(axis.input);
      if (!(axis.scale > 0 && output < 0x1p40)) {
        return InvalidArgument("scale ", i, " is ", axis.scale);
      }
      axis.output = static_cast<int64_t>(std::floor(output));
    } else if (sizes[static_cast<size_t>(i)] < 0) {
      return InvalidArgument("size ", i, " is ", sizes[static_cast<size_t>(i)]);
    }
    if (crops) {
      axis.roi_start = roi[i];
      axis.roi_end = roi[i + count];
    }
  }
  if (given == count) Fit(op, sizes, axes);
  return axes;
}

std::vector<Taps> AllTaps(const op::Resize& op, const ResizeAxis& axis) {
  std::vector<Taps> taps;
  for (int64_t o = 0; o < axis.output; ++o) {
    taps.push_back(TapsOf(op, axis, o));
  }
  return taps;
}

Shape ResizedShape(Shape shape, const std::vector<ResizeAxis>& axes) {
  for (const ResizeAxis& axis : axes) shape[axis.axis] = axis.output;
  return shape;
}

// One axis of x [outer, taps, inner]; y [outer, taps.size(), inner].
template <class T>
void ResizeLine(const std::vector<Taps>& taps, const AxisView& view, T outside,
                const T* x, T* y) {
  for (int64_t block = 0; block < view.outer; ++block) {
    for (const Taps& each : taps) {
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
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto axes, PlanResize(op, run));
  ASSAY_ASSIGN_OR_RETURN(
      Stored<T> y,
      Store<T>(run, op.y, input.dtype(), ResizedShape(input.shape(), axes)));
  const Loaded<T> x(input);
  std::vector<T> now(x.data(), x.data() + x.size());
  Shape shape = input.shape();
  for (const ResizeAxis& axis : axes) {
    const std::vector<Taps> taps = AllTaps(op, axis);
    ASSAY_ASSIGN_OR_RETURN(const AxisView view, AxisView::Of(shape, axis.axis));
    shape[axis.axis] = axis.output;
    ASSAY_ASSIGN_OR_RETURN(const int64_t size, shape.NumElements());
    std::vector<T> next(static_cast<size_t>(size));
    ResizeLine(taps, view, T(op.extrapolation_value), now.data(), next.data());
    now = std::move(next);
  }
  std::ranges::copy(now, y.data());
  return OkStatus();
}

// Mode nearest outside of crops only moves elements.
Status ResizeByMoving(const op::Resize& op, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto axes, PlanResize(op, run));
  Tensor now = input;
  for (const ResizeAxis& axis : axes) {
    Shape shape = now.shape();
    shape[axis.axis] = axis.output;
    ASSAY_ASSIGN_OR_RETURN(Tensor next, Tensor::Allocate(now.dtype(), shape));
    const Strides from = DenseStrides(now.shape());
    const Strides to = DenseStrides(shape);
    const auto at = static_cast<size_t>(axis.axis);
    Shape slice = shape;
    slice[axis.axis] = 1;
    const Nest<2> nest(slice, {from, to});
    int64_t position = 0;
    for (const Taps& taps : AllTaps(op, axis)) {
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
    return MovingKernel(load, op.x, std::bind_front(&ResizeByMoving, op));
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
