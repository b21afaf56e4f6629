// SPDX-License-Identifier: Apache-2.0
//
// Quantization: QuantizeLinear, DequantizeLinear, and products of quantized
// numbers. Products are summed as whole numbers, exactly; what is scaled is
// scaled in double and rounded once.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/nn/conv.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/backend/backend.h"

namespace assay::reference {
namespace {

/// The least and greatest number of an integer type.
struct Limits {
  explicit Limits(DType type) {
    const int bits = BitsOf(type);
    const bool is_signed = ClassOf(type) == DTypeClass::kSigned;
    least = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
    greatest = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  }
  // To nearest, ties to even.
  double Saturate(double x) const {
    return std::clamp(std::nearbyint(x), least, greatest);
  }

  double least;
  double greatest;
};

/// Which scale belongs to an element: one for all, one for each slice of an
/// axis, or one for each block of slices, of which the last may be short.
class ScaleNest {
 public:
  static Result<ScaleNest> Of(const Shape& x, const Shape& scale, int64_t axis,
                              int64_t block_size) {
    ASSAY_ASSIGN_OR_RETURN(const int64_t count, scale.NumElements());
    const Strides dense = DenseStrides(x);
    ScaleNest nest;
    if (count == 1 && block_size == 0) {
      nest.Add(x, dense, Strides(dense.size(), 0));
      return nest;
    }
    ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, x));
    const auto at = static_cast<size_t>(k);
    if (block_size == 0) {
      if (scale.rank() != 1 || count != x[k]) return Mismatch(x, scale);
      Strides strides(dense.size(), 0);
      strides[at] = 1;
      nest.Add(x, dense, strides);
      return nest;
    }
    Shape blocks = x;
    blocks[k] = (x[k] + block_size - 1) / block_size;
    if (scale != blocks) return Mismatch(x, scale);
    // The axis as two: blocks, and places in a block, which share the scale.
    const int64_t whole = x[k] / block_size;
    Dims dims = x.dims();
    dims[at] = whole;
    dims.insert(dims.begin() + k + 1, block_size);
    Strides from = dense;
    from[at] *= block_size;
    from.insert(from.begin() + k + 1, dense[at]);
    Strides to = DenseStrides(scale);
    to.insert(to.begin() + k + 1, 0);
    nest.Add(Shape(dims), from, to);
    dims[at] = 1;
    dims[at + 1] = x[k] % block_size;
    nest.Add(Shape(dims), from, to, whole * from[at], whole * to[at]);
    return nest;
  }

  /// Calls visit(in x, in the scales) for every element.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [nest, start] : parts_) nest.ForEach(visit, start);
  }

 private:
  static Status Mismatch(const Shape& x, const Shape& scale) {
    return InvalidArgument("a scale of shape ", scale.ToString(),
                           " does not fit an input of shape ", x.ToString());
  }

  void Add(const Shape& shape, const Strides& x, const Strides& scale,
           int64_t in_x = 0, int64_t in_scale = 0) {
    parts_.push_back({Nest<2>(shape, {x, scale}), {in_x, in_scale}});
  }

  Scratch<std::pair<Nest<2>, Nest<2>::Offsets>> parts_;  // with starts
};

/// Zero points, one for each scale; zeros where there is no zero point.
template <class T>
struct ZeroPoints {
  ZeroPoints(const Tensor& tensor, int64_t count)
      : given(tensor), size(given.data() == nullptr ? count : given.size()) {}
  T operator[](int64_t i) const {
    return given.data() == nullptr ? T(0) : given[i];
  }

  Loaded<T> given;
  int64_t size;
};

/// `value` as an element of `type`, a floating-point type.
class Rounder {
 public:
  explicit Rounder(DType type)
      : format_(FindFloatFormat(type)), is_double_(type == DType::kFloat64) {}
  Var operator()(Var value) const { return value; }
  double operator()(double value) const {
    if (format_ != nullptr) {
      return format_->Decode(format_->Encode(value, Overflow::kPropagate));
    }
    return is_double_ ? value : static_cast<double>(static_cast<float>(value));
  }

 private:
  const FloatFormat* format_;
  bool is_double_;
};

/// The nearest whole number, which shows in what is stored.
template <class T>
double RoundedValue(T x) {
  const double nearest = Value(nearbyint(x));
  NoteRounded(x, nearest);
  return nearest;
}

// QuantizeLinear-25: saturate(round(x / y_scale) + y_zero_point), the quotient
// being one of type `precision`, else of y_scale's.
template <class T>
Status Quantize(const op::QuantizeLinear& op, DType type, DType precision,
                KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Tensor& scales = run.input(op.y_scale);
  ASSAY_ASSIGN_OR_RETURN(
      const auto nest,
      ScaleNest::Of(input.shape(), scales.shape(), op.axis, op.block_size));
  const Loaded<T> x(input);
  const Loaded<T> scale(scales);
  const ZeroPoints<T> zero(run.input(op.y_zero_point), scale.size());
  if (zero.size != scale.size()) {
    return InvalidArgument("y_zero_point has ", zero.size, " and y_scale ",
                           scale.size(), " elements");
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.y, type, input.shape()));
  Scratch<T> quantized(static_cast<size_t>(x.size()));
  const bool is_float = IsFloatingPoint(type);
  const Limits limits(type);
  const Rounder round(precision);
  nest.ForEach([&](int64_t at, int64_t of) {
    const T quotient = round(x[at] / scale[of]);
    quantized[static_cast<size_t>(at)] =
        is_float ? quotient + zero[of]
                 : T(limits.Saturate(RoundedValue(quotient) + Value(zero[of])));
  });
  Encode(quantized.data(), *y,
         {.overflow =
              op.saturate != 0 ? Overflow::kSaturate : Overflow::kPropagate,
          .traced = type});
  return OkStatus();
}

// DequantizeLinear-25: (x - x_zero_point) * x_scale.
template <class T>
Status Dequantize(const op::DequantizeLinear& op, DType type,
                  KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Tensor& scales = run.input(op.x_scale);
  ASSAY_ASSIGN_OR_RETURN(
      const auto nest,
      ScaleNest::Of(input.shape(), scales.shape(), op.axis, op.block_size));
  const Loaded<T> x(input);
  const Loaded<T> scale(scales);
  const ZeroPoints<T> zero(run.input(op.x_zero_point), scale.size());
  if (zero.size != scale.size()) {
    return InvalidArgument("x_zero_point has ", zero.size, " and x_scale ",
                           scale.size(), " elements");
  }
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, type, input.shape()));
  nest.ForEach(
      [&](int64_t at, int64_t of) { y[at] = (x[at] - zero[of]) * scale[of]; });
  return OkStatus();
}

/// The numbers of a tensor less their zero points: one for all, or one for each
/// slice of `axis`.
template <class T>
Result<Scratch<T>> Centered(const Tensor& tensor, const Tensor& zero,
                            int axis) {
  const Loaded<T> x(tensor);
  const Loaded<T> points(zero);
  Scratch<T> y(x.data(), x.data() + x.size());
  if (points.data() == nullptr) return y;
  const Shape& shape = tensor.shape();
  if (points.size() != 1 && points.size() != shape[axis]) {
    return InvalidArgument("a zero point of shape ", zero.shape().ToString(),
                           " for a tensor of shape ", shape.ToString());
  }
  const int64_t inner = Extent(shape, axis + 1, shape.rank());
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t slice = static_cast<int64_t>(i) / inner % shape[axis];
    y[i] -= points[points.size() == 1 ? 0 : slice];
  }
  return y;
}

/// a * b, in whole numbers or, of 8-bit floats, in double, which holds their
/// products exactly, or in Vars. A zero point of one element per row of a
/// stands for the rows, one per column of b for the columns.
template <class T>
struct QuantizedProduct {
  static Result<QuantizedProduct> Of(const Tensor& a, const Tensor& zero_a,
                                     const Tensor& b, const Tensor& zero_b) {
    ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanMatMul(a.shape(), b.shape()));
    const int rows = std::max(a.shape().rank() - 2, 0);
    const int columns = b.shape().rank() - 1;
    ASSAY_ASSIGN_OR_RETURN(const auto va, Centered<T>(a, zero_a, rows));
    ASSAY_ASSIGN_OR_RETURN(const auto vb, Centered<T>(b, zero_b, columns));
    ASSAY_ASSIGN_OR_RETURN(const int64_t size, plan.y_shape.NumElements());
    QuantizedProduct made{plan.y_shape,
                          Scratch<T>(static_cast<size_t>(size), T(0))};
    plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
      Accumulate<T>(nullptr, plan.product, va.data() + ia, vb.data() + ib,
                    made.values.data() + iy);
    });
    return made;
  }

  Shape shape;
  Scratch<T> values;
};

using IntegerProduct = QuantizedProduct<int64_t>;

template <class Op>
Result<IntegerProduct> ConvolveIntegers(const Op& op, const Tensor& x,
                                        const Tensor& zero_x, const Tensor& w,
                                        const Tensor& zero_w) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         ConvPlan::Of(op, x.shape(), w.shape()));
  if (zero_x.num_elements() > 1) {
    return InvalidArgument("the zero point of X has ", zero_x.num_elements(),
                           " elements, wanted one");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto vx, Centered<int64_t>(x, zero_x, 0));
  ASSAY_ASSIGN_OR_RETURN(const auto vw, Centered<int64_t>(w, zero_w, 0));
  const Shape shape = plan.OutputShape();
  ASSAY_ASSIGN_OR_RETURN(const int64_t size, shape.NumElements());
  IntegerProduct made{shape, Scratch<int64_t>(static_cast<size_t>(size), 0)};
  Convolve<int64_t>(plan, nullptr, vx.data(), vw.data(), made.values.data());
  return made;
}

// MatMulInteger-10 and ConvInteger-10.
Status StoreProduct(const IntegerProduct& product, Output output,
                    KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(output, DType::kInt32, product.shape));
  Encode(product.values.data(), *y);
  return OkStatus();
}

Status MatMulInteger(const op::MatMulInteger& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto product,
      IntegerProduct::Of(run.input(op.a), run.input(op.a_zero_point),
                         run.input(op.b), run.input(op.b_zero_point)));
  return StoreProduct(product, op.y, run);
}

Status ConvInteger(const op::ConvInteger& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto product,
      ConvolveIntegers(op, run.input(op.x), run.input(op.x_zero_point),
                       run.input(op.w), run.input(op.w_zero_point)));
  return StoreProduct(product, op.y, run);
}

/// The scales by which a product of whole numbers becomes one of y's, one for
/// all or one for each slice of `axis` of y.
struct Requantization {
  const Tensor& a_scale;
  const Tensor& b_scale;
  const Tensor& y_scale;
  const Tensor& y_zero_point;
  DType type;  // of y

  // saturate(round(product * a_scale * b_scale / y_scale) + y_zero_point), the
  // scales being S; an 8-bit float is rounded once, as it is stored.
  template <class S, class T>
  Status Store(const QuantizedProduct<T>& product, int a_axis, int b_axis,
               Output output, KernelContext& run) const {
    const Loaded<S> a(a_scale);
    const Loaded<S> b(b_scale);
    const Loaded<S> y(y_scale);
    const Loaded<S> zero(y_zero_point);
    const Shape& shape = product.shape;
    const auto fits = [&](const Loaded<S>& scale, int axis) {
      return scale.size() == 1 ||
             (axis >= 0 && axis < shape.rank() && scale.size() == shape[axis]);
    };
    if (!fits(a, a_axis) || !fits(b, b_axis) || y.size() != 1 ||
        zero.size() != 1) {
      return InvalidArgument("scales of ", a.size(), ", ", b.size(), " and ",
                             y.size(), " elements for a result of shape ",
                             shape.ToString());
    }
    const auto pick = [&](const Loaded<S>& scale, int axis, int64_t i) {
      if (scale.size() == 1) return scale[0];
      return scale[i / Extent(shape, axis + 1, shape.rank()) % shape[axis]];
    };
    ASSAY_ASSIGN_OR_RETURN(Tensor * stored, run.Output(output, type, shape));
    const Limits limits(type);
    Scratch<S> values(product.values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const S scaled = Real<S>(product.values[i]) *
                       (pick(a, a_axis, at) * pick(b, b_axis, at) / y[0]);
      values[i] =
          IsFloatingPoint(type)
              ? scaled + zero[0]
              : S(limits.Saturate(RoundedValue(scaled) + Value(zero[0])));
    }
    Encode(values.data(), *stored,
           {.overflow = Overflow::kSaturate, .traced = type});
    return OkStatus();
  }

 private:
  template <class S, class T>
  static S Real(T number) {
    if constexpr (std::same_as<T, S>) {
      return number;
    } else {
      return S(static_cast<double>(number));
    }
  }
};

// QLinearMatMul-21.
template <class S, class T>
Status QLinearMatMul(const op::QLinearMatMul& op, DType type,
                     KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto product,
      QuantizedProduct<T>::Of(run.input(op.a), run.input(op.a_zero_point),
                              run.input(op.b), run.input(op.b_zero_point)));
  const Requantization scales{run.input(op.a_scale), run.input(op.b_scale),
                              run.input(op.y_scale), run.input(op.y_zero_point),
                              type};
  const int rank = product.shape.rank();
  return scales.Store<S>(product, rank - 2, rank - 1, op.y, run);
}

// QLinearConv-10: the bias is of whole numbers with the scale x_scale * w_scale
// and the zero point 0.
template <class S>
Status QLinearConv(const op::QLinearConv& op, DType type, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(
      IntegerProduct product,
      ConvolveIntegers(op, run.input(op.x), run.input(op.x_zero_point),
                       run.input(op.w), run.input(op.w_zero_point)));
  const Loaded<int64_t> bias(run.input(op.b));
  const Shape& shape = product.shape;
  if (bias.data() != nullptr) {
    if (bias.size() != shape[1]) {
      return InvalidArgument("input B has ", bias.size(), " elements, wanted ",
                             shape[1]);
    }
    const int64_t inner = Extent(shape, 2, shape.rank());
    for (size_t i = 0; i < product.values.size(); ++i) {
      product.values[i] += bias[static_cast<int64_t>(i) / inner % shape[1]];
    }
  }
  const Requantization scales{run.input(op.x_scale), run.input(op.w_scale),
                              run.input(op.y_scale), run.input(op.y_zero_point),
                              type};
  return scales.Store<S>(product, -1, 1, op.y, run);
}

Result<Kernel> MakeQuantizeLinear(const op::QuantizeLinear& op,
                                  LoadContext& load) {
  const DType type = load.dtype(op.y);
  const DType precision =
      DTypeFromOnnx(static_cast<int>(op.precision)).value_or(DType::kUndefined);
  if (ScalarOf(type) == ScalarKind::kNone || type == DType::kFloat8E8M0) {
    return Unsupported(Reason::kDType, "the result is ",
                       load.type(op.y).ToString());
  }
  const auto kernel = load.options().exact ? &Quantize<Var> : &Quantize<double>;
  return Kernel{.forward = std::bind_front(kernel, op, type,
                                           precision == DType::kUndefined
                                               ? load.dtype(op.y_scale)
                                               : precision)};
}

Result<Kernel> MakeDequantizeLinear(const op::DequantizeLinear& op,
                                    LoadContext& load) {
  const DType type = load.dtype(op.y);
  if (!IsFloatingPoint(type)) {
    return Unsupported(Reason::kDType, "the result is ",
                       load.type(op.y).ToString());
  }
  const auto kernel =
      load.options().exact ? &Dequantize<Var> : &Dequantize<double>;
  return Kernel{.forward = std::bind_front(kernel, op, type)};
}

Result<Kernel> MakeQLinearMatMul(const op::QLinearMatMul& op,
                                 LoadContext& load) {
  const bool exact = load.options().exact;
  const bool is_float =
      IsFloatingPoint(load.dtype(op.a)) || IsFloatingPoint(load.dtype(op.b));
  auto* kernel =
      exact ? &QLinearMatMul<Var, int64_t> : &QLinearMatMul<double, int64_t>;
  if (is_float) {
    kernel = exact ? &QLinearMatMul<Var, Var> : &QLinearMatMul<double, double>;
  }
  return Kernel{.forward = std::bind_front(kernel, op, load.dtype(op.y))};
}

Result<Kernel> MakeQLinearConv(const op::QLinearConv& op, LoadContext& load) {
  const auto kernel =
      load.options().exact ? &QLinearConv<Var> : &QLinearConv<double>;
  return Kernel{.forward = std::bind_front(kernel, op, load.dtype(op.y))};
}

}  // namespace

Family QuantizationFamily() {
  return FamilyOf(MakeQuantizeLinear, MakeDequantizeLinear, MatMulInteger,
                  Spatial(RowOf(ConvInteger)), MakeQLinearMatMul,
                  Spatial(RowOf(MakeQLinearConv)));
}

}  // namespace assay::reference
