// SPDX-License-Identifier: Apache-2.0
//
// Operators that sum the windows of an image: ConvTranspose and Col2Im.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/flow_through.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/fold.h"
#include "backends/reference/loop/unfold.h"
#include "backends/reference/ops/nn/conv.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/complex.h"

namespace assay::reference {
namespace {

struct TransposePlan {
  static Result<TransposePlan> Of(const op::ConvTranspose& op, const Shape& x,
                                  const Shape& w);

  Window window;  // over the output
  int64_t images = 0;
  int64_t groups = 1;
  int64_t channels = 0;  // of the input, per group
  int64_t filters = 0;   // channels of the output, per group
};

Result<TransposePlan> TransposePlan::Of(const op::ConvTranspose& op,
                                        const Shape& x, const Shape& w) {
  if (x.rank() < 3 || w.rank() != x.rank()) {
    return InvalidArgument("input X of shape ", x.ToString(),
                           " and input W of shape ", w.ToString(),
                           ", wanted equal ranks of at least 3");
  }
  const WindowSpec spec{.kernel_shape = Dims(std::span(w.dims()).subspan(2)),
                        .strides = Dims(op.strides),
                        .dilations = Dims(op.dilations),
                        .pads = Dims(op.pads),
                        .auto_pad = op.auto_pad};
  if (!op.kernel_shape.empty() &&
      !std::ranges::equal(op.kernel_shape, spec.kernel_shape)) {
    return InvalidArgument("kernel_shape is ",
                           Shape(op.kernel_shape).ToString(),
                           ", but input W has shape ", w.ToString());
  }
  if (op.group < 1 || x[1] != w[0] || x[1] % op.group != 0) {
    return InvalidArgument("group is ", op.group, ", but input X has shape ",
                           x.ToString(), " and input W ", w.ToString());
  }
  ASSAY_ASSIGN_OR_RETURN(
      const Window window,
      Window::PlanTransposed(spec, op.output_padding, op.output_shape, x));
  return TransposePlan{.window = window,
                       .images = x[0],
                       .groups = op.group,
                       .channels = x[1] / op.group,
                       .filters = w[1]};
}

// W of a group is [channels, rows], x [channels, inputs], the columns
// [rows, inputs].
Product ProductOf(const TransposePlan& plan) {
  const int64_t rows = plan.filters * plan.window.KernelSize();
  Product product = DenseProduct(rows, plan.channels, plan.window.OutputSize());
  product.a = {1, rows};
  return product;
}

// ConvTranspose-22: the adjoint of Conv with the same weights
// [C, M / group, ...]: each value of X, times the weights, is added to the
// window of Y that Conv would compute it from.
template <class T>
Status ConvTranspose(const op::ConvTranspose& op, const SimdLoops<T>* loops,
                     KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Tensor& w = run.input(op.w);
  ASSAY_ASSIGN_OR_RETURN(const TransposePlan plan,
                         TransposePlan::Of(op, x.shape(), w.shape()));
  const int64_t all_filters = plan.filters * plan.groups;
  const Loaded<T> vx(x);
  const Loaded<T> vw(w);
  const Loaded<T> bias(run.input(op.b));
  if (bias.data() != nullptr && bias.size() != all_filters) {
    return InvalidArgument("input B has ", bias.size(), " elements, wanted ",
                           all_filters);
  }
  ASSAY_ASSIGN_OR_RETURN(
      Stored<T> y, Store<T>(run, op.y, x.dtype(),
                            plan.window.InputShape(plan.images, all_filters)));
  const int64_t inputs = plan.window.OutputSize();
  const int64_t outputs = plan.window.InputSize();
  for (int64_t m = 0; m < plan.images * all_filters; ++m) {
    std::fill_n(y.data() + m * outputs, outputs,
                bias.data() == nullptr ? T(0) : bias[m % all_filters]);
  }
  const Product product = ProductOf(plan);
  Scratch<T> columns(static_cast<size_t>(product.rows * inputs));
  for (int64_t block = 0; block < plan.images * plan.groups; ++block) {
    std::ranges::fill(columns, T(0));
    Accumulate(loops, product,
               vw.data() + block % plan.groups * plan.channels * product.rows,
               vx.data() + block * plan.channels * inputs, columns.data());
    Fold(plan.window, plan.filters, columns.data(),
         y.data() + block * plan.filters * outputs);
  }
  return OkStatus();
}

template <class T>
Status ConvTransposeBackward(const op::ConvTranspose& op,
                             const SimdLoops<T>* loops, GradientContext& run) {
  const Tensor& cotangent = FlowInto(run, op.y);
  const Loaded<T> dy(cotangent);
  if (dy.size() == 0) return OkStatus();
  const Tensor& x = run.input(op.x);
  const Tensor& w = run.input(op.w);
  ASSAY_ASSIGN_OR_RETURN(const TransposePlan plan,
                         TransposePlan::Of(op, x.shape(), w.shape()));
  const Loaded<T> vx(x);
  const Loaded<T> vw(w);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> dx, GradientOf<T>(run, op.x));
  ASSAY_ASSIGN_OR_RETURN(Stored<T> dw, GradientOf<T>(run, op.w));
  const FlowThrough<T> to_weights(loops, vx);
  const FlowThrough<T> to_input(loops, vw);
  const Product product = ProductOf(plan);
  const int64_t inputs = plan.window.OutputSize();
  const int64_t outputs = plan.window.InputSize();
  Scratch<T> columns(static_cast<size_t>(product.rows * inputs));
  for (int64_t block = 0; block < plan.images * plan.groups; ++block) {
    Unfold(plan.window, plan.filters,
           dy.data() + block * plan.filters * outputs, 0, inputs,
           columns.data());
    const int64_t of_x = block * plan.channels * inputs;
    const int64_t of_w = block % plan.groups * plan.channels * product.rows;
    if (dw.data() != nullptr) {
      to_weights.ToA(product, columns.data(), vx.data() + of_x,
                     dw.data() + of_w);
    }
    if (dx.data() != nullptr) {
      to_input.ToB(product, vw.data() + of_w, columns.data(), dx.data() + of_x);
    }
  }
  return AddBiasFlow(cotangent, plan.filters * plan.groups, outputs, op.b, run);
}

// Col2Im-18: input [N, C * taps, L] to [N, C, image_shape...].
template <class T>
Status Col2Im(const op::Col2Im& op, KernelContext& run) {
  const Tensor& input = run.input(op.input);
  const std::vector<int64_t> image = IntegersOf(run.input(op.image_shape));
  Dims dims = {1, 1};
  dims.insert(dims.end(), image.begin(), image.end());
  if (std::ranges::any_of(image, [](int64_t extent) { return extent < 0; })) {
    return InvalidArgument("image_shape is ", Shape(image).ToString());
  }
  // Places times taps fit, as Window multiplies them.
  const std::vector<int64_t> block = IntegersOf(run.input(op.block_shape));
  std::vector<int64_t> all = image;
  all.insert(all.end(), block.begin(), block.end());
  ASSAY_RETURN_IF_ERROR(Shape(all).NumElements().status());
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan({.kernel_shape = Dims(block),
                                       .strides = Dims(op.strides),
                                       .dilations = Dims(op.dilations),
                                       .pads = Dims(op.pads)},
                                      Shape(dims)));
  const Shape& shape = input.shape();
  if (shape.rank() != 3 || shape[1] % window.KernelSize() != 0 ||
      shape[2] != window.OutputSize()) {
    return InvalidArgument("an input of shape ", shape.ToString(),
                           ", wanted [N, a multiple of ", window.KernelSize(),
                           ", ", window.OutputSize(), "]");
  }
  const int64_t channels = shape[1] / window.KernelSize();
  const Loaded<T> columns(input);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.output, input.dtype(),
                                  window.InputShape(shape[0], channels)));
  std::fill_n(y.data(), y.size(), T(0));
  for (int64_t n = 0; n < shape[0]; ++n) {
    Fold(window, channels, columns.data() + n * shape[1] * shape[2],
         y.data() + n * channels * window.InputSize());
  }
  return OkStatus();
}

Result<Kernel> MakeCol2Im(const op::Col2Im& op, LoadContext& load) {
  if (IsComplex(load.dtype(op.input))) {
    return Kernel{.forward = std::bind_front(&Col2Im<Complex>, op)};
  }
  return Dispatch(load, op.input, kNumbers,
                  [&]<class T>() { return std::bind_front(&Col2Im<T>, op); });
}

}  // namespace

Family TransposedConvFamily() {
  return FamilyOf(
      Spatial(WithBackward(
          Typed(kFloats, []<class T>() { return &ConvTranspose<T>; }),
          []<class T>() { return &ConvTransposeBackward<T>; })),
      MakeCol2Im);
}

}  // namespace assay::reference
