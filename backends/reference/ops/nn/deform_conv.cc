// SPDX-License-Identifier: Apache-2.0
//
// DeformConv-22: a convolution whose taps stand where an input says, by linear
// interpolation between the elements around. Per image, the input is sampled
// into [C * taps, output positions], then each group is one Product.
//
// Source: the page of DeformConv-22. Where it contradicts itself (the mask of
// more than two axes) or is silent (the order of offsets: tap by tap, one per
// axis), ONNX's reference implementation.

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

Result<Dims> PerAxis(const char* name, std::span<const int64_t> given,
                     size_t count, int64_t otherwise, int64_t least) {
  if (given.empty()) return Dims(count, otherwise);
  if (given.size() == count &&
      std::ranges::all_of(given, [&](int64_t v) { return v >= least; })) {
    return Dims(given);
  }
  return InvalidArgument(name, " is ", Shape(given).ToString(), ", wanted ",
                         count, " numbers of at least ", least);
}

struct DeformPlan {
  static Result<DeformPlan> Of(const op::DeformConv& op,
                               const KernelContext& run) {
    const Shape& x = run.input(op.x).shape();
    const Shape& w = run.input(op.w).shape();
    DeformPlan plan;
    ASSAY_RETURN_IF_ERROR(plan.CheckAttributes(op, x, w));
    plan.output = plan.image;
    for (int k = 0; k < plan.image.rank(); ++k) {
      const auto at = static_cast<size_t>(k);
      const int64_t padded =
          plan.image[k] + plan.pads[at] +
          plan.pads[at + static_cast<size_t>(plan.image.rank())];
      const int64_t reach = (plan.kernel[k] - 1) * plan.dilations[at] + 1;
      if (plan.kernel[k] < 1 || reach > padded) {
        return InvalidArgument(
            "axis ", k, " has extent ", padded,
            " with its padding, and the kernel reaches over ", reach);
      }
      plan.output[k] = (padded - reach) / plan.strides[at] + 1;
    }
    plan.images = x[0];
    plan.channels = x[1];
    plan.filters = w[0];
    plan.groups = op.group;
    plan.offset_groups = op.offset_group;
    ASSAY_RETURN_IF_ERROR(plan.CheckShapes(op, run));
    return plan;
  }

  Status CheckAttributes(const op::DeformConv& op, const Shape& x,
                         const Shape& w) {
    if (x.rank() < 3 || w.rank() != x.rank()) {
      return InvalidArgument("input X of shape ", x.ToString(),
                             " and input W of shape ", w.ToString(),
                             ", wanted equal ranks of at least 3");
    }
    if (op.group < 1 || op.offset_group < 1 || w[0] % op.group != 0 ||
        x[1] % op.offset_group != 0 || x[1] % op.group != 0 ||
        w[1] != x[1] / op.group) {
      return InvalidArgument("group is ", op.group, " and offset_group ",
                             op.offset_group, ", but input X has shape ",
                             x.ToString(), " and input W ", w.ToString());
    }
    image = SubShape(x, 2, x.rank());
    kernel = SubShape(w, 2, w.rank());
    if (!op.kernel_shape.empty() && Shape(op.kernel_shape) != kernel) {
      return InvalidArgument("kernel_shape is ",
                             Shape(op.kernel_shape).ToString(),
                             ", but input W has shape ", w.ToString());
    }
    const auto axes = static_cast<size_t>(image.rank());
    ASSAY_ASSIGN_OR_RETURN(strides, PerAxis("strides", op.strides, axes, 1, 1));
    ASSAY_ASSIGN_OR_RETURN(dilations,
                           PerAxis("dilations", op.dilations, axes, 1, 1));
    ASSAY_ASSIGN_OR_RETURN(pads, PerAxis("pads", op.pads, 2 * axes, 0, 0));
    return OkStatus();
  }

  Status CheckShapes(const op::DeformConv& op, const KernelContext& run) const {
    const auto check = [&](Input input, const char* name, const Shape& wanted) {
      if (!run.input(input).defined() || run.input(input).shape() == wanted) {
        return OkStatus();
      }
      return InvalidArgument("input ", name, " has shape ",
                             run.input(input).shape().ToString(), ", wanted ",
                             wanted.ToString());
    };
    const int64_t taps = offset_groups * Taps();
    ASSAY_RETURN_IF_ERROR(
        check(op.offset, "offset",
              JoinedShape({images, taps * image.rank()}, output)));
    ASSAY_RETURN_IF_ERROR(
        check(op.mask, "mask", JoinedShape({images, taps}, output)));
    return check(op.b, "B", {filters});
  }

  int64_t Taps() const { return *kernel.NumElements(); }
  int64_t Outputs() const { return *output.NumElements(); }

  Shape image, kernel, output;  // the spatial axes
  Dims strides, dilations, pads;
  int64_t images = 0;
  int64_t channels = 0;
  int64_t filters = 0;
  int64_t groups = 1;
  int64_t offset_groups = 1;
};

/// The elements around a place that are inside the image, and their weights.
template <class T>
struct Corners {
  Scratch<int64_t> at;
  Scratch<T> weights;

  void Restart() {
    at.assign(1, 0);
    weights.assign(1, T(1));
  }

  // One axis further in. A place outside reads zeros; NaN is outside. One that
  // is tied with a border may be on either side of it.
  void Narrow(T position, int64_t extent) {
    Scratch<int64_t> next;
    Scratch<T> next_weights;
    if (Before(T(-1), position) && Before(position, static_cast<T>(extent))) {
      const auto low = static_cast<int64_t>(Value(floor(position)));
      NoteCell(position, low);
      const T right = position - static_cast<T>(low);
      for (size_t i = 0; i < at.size(); ++i) {
        if (low >= 0 && low < extent) {
          next.push_back(at[i] * extent + low);
          next_weights.push_back(weights[i] * (T(1) - right));
        }
        if (low + 1 >= 0 && low + 1 < extent) {
          next.push_back(at[i] * extent + low + 1);
          next_weights.push_back(weights[i] * right);
        }
      }
    }
    at = std::move(next);
    weights = std::move(next_weights);
  }
};

Dims IndexOf(int64_t flat, const Shape& shape) {
  Dims index(static_cast<size_t>(shape.rank()));
  for (int k = shape.rank(); k-- > 0;) {
    index[static_cast<size_t>(k)] = flat % shape[k];
    flat /= shape[k];
  }
  return index;
}

/// The source of the samples of one image and one group of offsets.
template <class T>
struct Sampled {
  const T* x;       // [channels of the group, image]
  const T* offset;  // [taps, axes, outputs]
  const T* mask;    // [taps, outputs]; null: ones
  int64_t channels;
};

// One tap at one output position: where it reads.
template <class T>
void Place(const DeformPlan& plan, const Sampled<T>& from, int64_t tap,
           int64_t o, Corners<T>& corners) {
  const Dims taps = IndexOf(tap, plan.kernel);
  const Dims outputs = IndexOf(o, plan.output);
  const int axes = plan.image.rank();
  corners.Restart();
  for (int k = 0; k < axes; ++k) {
    const auto at = static_cast<size_t>(k);
    const int64_t start = outputs[at] * plan.strides[at] - plan.pads[at] +
                          taps[at] * plan.dilations[at];
    const T offset = from.offset[(tap * axes + k) * plan.Outputs() + o];
    corners.Narrow(static_cast<T>(start) + offset, plan.image[k]);
  }
}

// columns: [channels, taps, outputs].
template <class T>
void Sample(const DeformPlan& plan, const Sampled<T>& from, T* columns) {
  const int64_t outputs = plan.Outputs();
  const int64_t image_size = Extent(plan.image, 0, plan.image.rank());
  Corners<T> corners;
  for (int64_t tap = 0; tap < plan.Taps(); ++tap) {
    for (int64_t o = 0; o < outputs; ++o) {
      Place(plan, from, tap, o, corners);
      for (int64_t c = 0; c < from.channels; ++c) {
        const T* image = from.x + c * image_size;
        T sum(0);
        for (size_t i = 0; i < corners.at.size(); ++i) {
          sum += corners.weights[i] * image[corners.at[i]];
        }
        if (from.mask != nullptr) sum *= from.mask[tap * outputs + o];
        columns[(c * plan.Taps() + tap) * outputs + o] = sum;
      }
    }
  }
}

template <class T>
Status DeformConv(const op::DeformConv& op, const SimdLoops<T>* loops,
                  KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, DeformPlan::Of(op, run));
  const Loaded<T> x(run.input(op.x));
  const Loaded<T> w(run.input(op.w));
  const Loaded<T> offset(run.input(op.offset));
  const Loaded<T> bias(run.input(op.b));
  const Loaded<T> mask(run.input(op.mask));
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, op.y, run.input(op.x).dtype(),
                       JoinedShape({plan.images, plan.filters}, plan.output)));
  const int64_t outputs = plan.Outputs();
  const int64_t taps = plan.Taps();
  const int64_t image_size = Extent(plan.image, 0, plan.image.rank());
  const int64_t shared = plan.channels / plan.offset_groups;
  const int64_t inner = plan.channels / plan.groups * taps;
  const int64_t filters = plan.filters / plan.groups;
  Scratch<T> columns(static_cast<size_t>(plan.channels * taps * outputs));
  for (int64_t n = 0; n < plan.images; ++n) {
    for (int64_t g = 0; g < plan.offset_groups; ++g) {
      const int64_t block = n * plan.offset_groups + g;
      Sample(plan,
             Sampled<T>{
                 x.data() + block * shared * image_size,
                 offset.data() + block * taps * plan.image.rank() * outputs,
                 mask.data() == nullptr ? nullptr
                                        : mask.data() + block * taps * outputs,
                 shared},
             columns.data() + g * shared * taps * outputs);
    }
    T* const to = y.data() + n * plan.filters * outputs;
    for (int64_t m = 0; m < plan.filters; ++m) {
      std::fill_n(to + m * outputs, outputs,
                  bias.data() == nullptr ? T(0) : bias[m]);
    }
    for (int64_t g = 0; g < plan.groups; ++g) {
      Accumulate(loops, DenseProduct(filters, inner, outputs),
                 w.data() + g * filters * inner,
                 columns.data() + g * inner * outputs,
                 to + g * filters * outputs);
    }
  }
  return OkStatus();
}

}  // namespace

Family DeformConvFamily() {
  return FamilyOf(Typed(kFloats, []<class T>() { return &DeformConv<T>; }));
}

}  // namespace assay::reference
