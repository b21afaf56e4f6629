// SPDX-License-Identifier: Apache-2.0
//
// Conv-22: per image and group one Product of the weights [M/g, C/g * taps] and
// the input unfolded to [C/g * taps, output positions], a tile of positions at
// a time so that the unfolded input stays in the cache. Groups of one channel
// and few filters (depthwise) go tap by tap instead.
//
// And the operators that sum the windows of an image: ConvTranspose and Col2Im.

#include "backends/reference/ops/nn/conv.h"

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/unfold.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

constexpr int64_t kTileElements = int64_t{1} << 19;
constexpr int64_t kLeastColumns = 128;
constexpr int64_t kMostFiltersByTap = 4;

// With the kernel that weights [..., ..., spatial...] of an input X have.
Result<WindowSpec> SpecOfWeights(WindowSpec spec, const Shape& x,
                                 const Shape& w) {
  if (x.rank() < 3 || w.rank() != x.rank()) {
    return InvalidArgument("input X of shape ", x.ToString(),
                           " and input W of shape ", w.ToString(),
                           ", wanted equal ranks of at least 3");
  }
  const Dims kernel(std::span(w.dims()).subspan(2));
  if (!spec.kernel_shape.empty() && spec.kernel_shape != kernel) {
    return InvalidArgument("kernel_shape is ",
                           Shape(spec.kernel_shape).ToString(),
                           ", but input W has shape ", w.ToString());
  }
  spec.kernel_shape = kernel;
  return spec;
}

// Output positions of a tile.
int64_t TileColumns(const ConvPlan& plan) {
  return std::min(plan.window.OutputSize(),
                  std::max(kTileElements / std::max<int64_t>(plan.Inner(), 1),
                           kLeastColumns));
}

// y += w * unfolded x, for one image and one group.
template <class T>
void ConvolveGroup(const ConvPlan& plan, const SimdLoops<T>* loops, const T* x,
                   const T* w, T* y, Scratch<T>& tile) {
  const int64_t outputs = plan.window.OutputSize();
  const int64_t inner = plan.Inner();
  if (loops != nullptr && plan.IsDepthwise()) {
    for (int64_t m = 0; m < plan.filters; ++m) {
      loops->add_taps(plan.window.axes(), x, w + m * inner, y + m * outputs);
    }
    return;
  }
  if (plan.IsPointwise()) {
    Accumulate(loops, DenseProduct(plan.filters, inner, outputs), w, x, y);
    return;
  }
  const int64_t columns = TileColumns(plan);
  tile.resize(static_cast<size_t>(inner * columns));
  for (int64_t first = 0; first < outputs; first += columns) {
    const int64_t last = std::min(first + columns, outputs);
    Unfold(plan.window, plan.channels, x, first, last, tile.data());
    Product product = DenseProduct(plan.filters, inner, last - first);
    product.y.row = outputs;
    Accumulate(loops, product, w, tile.data(), y + first);
  }
}

template <class T>
Status ConvForward(const op::Conv& op, const SimdLoops<T>* loops,
                   KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Tensor& w = run.input(op.w);
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         ConvPlan::Of(op, x.shape(), w.shape()));
  const int64_t filters = plan.Filters();
  const Loaded<T> vx(x);
  const Loaded<T> vw(w);
  const Loaded<T> bias(run.input(op.b));
  if (bias.data() != nullptr && bias.size() != filters) {
    return InvalidArgument("input B has ", bias.size(), " elements, wanted ",
                           filters);
  }
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, x.dtype(), plan.OutputShape()));
  const int64_t outputs = plan.window.OutputSize();
  for (int64_t m = 0; m < plan.images * filters; ++m) {
    std::fill_n(y.data() + m * outputs, outputs,
                bias.data() == nullptr ? T(0) : bias[m % filters]);
  }
  Convolve(plan, loops, vx.data(), vw.data(), y.data());
  return OkStatus();
}

/// The flow into an output, and on to both factors of its products.
template <class T>
struct ConvBackward {
  // dw += dy * unfolded x, for one image and one group.
  void ToWeights(const T* x, const T* dy, T* dw) {
    const int64_t outputs = plan.window.OutputSize();
    const int64_t columns = plan.IsPointwise() ? outputs : TileColumns(plan);
    tile.resize(static_cast<size_t>(plan.Inner() * columns));
    for (int64_t first = 0; first < outputs; first += columns) {
      const int64_t last = std::min(first + columns, outputs);
      const T* unfolded = x;
      if (!plan.IsPointwise()) {
        Unfold(plan.window, plan.channels, x, first, last, tile.data());
        unfolded = tile.data();
      }
      Product product = DenseProduct(plan.filters, plan.Inner(), last - first);
      product.y.row = outputs;
      through.ToA(product, dy + first, unfolded, dw);
    }
  }

  // dx += w * dy, folded, for one image and one group.
  void ToInput(const T* w, const T* dy, T* dx) {
    const Product product =
        DenseProduct(plan.filters, plan.Inner(), plan.window.OutputSize());
    if (plan.IsPointwise()) {
      through.ToB(product, w, dy, dx);
      return;
    }
    tile.assign(static_cast<size_t>(product.inner * product.columns), T(0));
    through.ToB(product, w, dy, tile.data());
    Fold(plan.window, plan.channels, tile.data(), dx);
  }

  const ConvPlan& plan;
  FlowThrough<T> through;
  Scratch<T> tile = {};
};

template <class T>
Status ConvolveBackward(const op::Conv& op, const SimdLoops<T>* loops,
                        GradientContext& run) {
  const Tensor& cotangent = FlowInto(run, op.y);
  const Loaded<T> dy(cotangent);
  if (dy.size() == 0) return OkStatus();
  const Tensor& x = run.input(op.x);
  const Tensor& w = run.input(op.w);
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         ConvPlan::Of(op, x.shape(), w.shape()));
  const Loaded<T> vx(x);
  const Loaded<T> vw(w);
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<T>(run, op.x));
  ASSAY_ASSIGN_OR_RETURN(auto dw, GradientOf<T>(run, op.w));
  ConvBackward<T> to_weights{plan, FlowThrough<T>(loops, vx)};
  ConvBackward<T> to_input{plan, FlowThrough<T>(loops, vw)};
  for (int64_t block = 0; block < plan.images * plan.groups; ++block) {
    const T* flow = dy.data() + block * plan.filters * plan.window.OutputSize();
    const int64_t of_x = block * plan.channels * plan.window.InputSize();
    const int64_t of_w = block % plan.groups * plan.filters * plan.Inner();
    if (dw.data() != nullptr) {
      to_weights.ToWeights(vx.data() + of_x, flow, dw.data() + of_w);
    }
    if (dx.data() != nullptr) {
      to_input.ToInput(vw.data() + of_w, flow, dx.data() + of_x);
    }
  }
  return AddBiasFlow(cotangent, plan.Filters(), plan.window.OutputSize(), op.b,
                     run);
}

struct TransposePlan {
  static Result<TransposePlan> Of(const op::ConvTranspose& op, const Shape& x,
                                  const Shape& w) {
    ASSAY_ASSIGN_OR_RETURN(const WindowSpec spec,
                           SpecOfWeights(WindowSpecOf(op), x, w));
    if (op.group < 1 || x[1] != w[0] || x[1] % op.group != 0) {
      return InvalidArgument("group is ", op.group, ", but input X has shape ",
                             x.ToString(), " and input W ", w.ToString());
    }
    ASSAY_ASSIGN_OR_RETURN(
        const auto window,
        Window::PlanTransposed(spec, op.output_padding, op.output_shape, x));
    return TransposePlan{.window = window,
                         .images = x[0],
                         .groups = op.group,
                         .channels = x[1] / op.group,
                         .filters = w[1]};
  }

  Window window;  // over the output
  int64_t images = 0;
  int64_t groups = 1;
  int64_t channels = 0;  // of the input, per group
  int64_t filters = 0;   // channels of the output, per group
};

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
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
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
      auto y, Store<T>(run, op.y, x.dtype(),
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
  ASSAY_ASSIGN_OR_RETURN(const auto plan,
                         TransposePlan::Of(op, x.shape(), w.shape()));
  const Loaded<T> vx(x);
  const Loaded<T> vw(w);
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<T>(run, op.x));
  ASSAY_ASSIGN_OR_RETURN(auto dw, GradientOf<T>(run, op.w));
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
  const Scratch<int64_t> image = IntegersOf(run.input(op.image_shape));
  Dims dims = {1, 1};
  dims.insert(dims.end(), image.begin(), image.end());
  if (std::ranges::any_of(image, [](int64_t extent) { return extent < 0; })) {
    return InvalidArgument("image_shape is ", Shape(image).ToString());
  }
  // Places times taps fit, as Window multiplies them.
  const Scratch<int64_t> block = IntegersOf(run.input(op.block_shape));
  Dims all(image);
  all.insert(all.end(), block.begin(), block.end());
  ASSAY_RETURN_IF_ERROR(Shape(all).NumElements().status());
  ASSAY_ASSIGN_OR_RETURN(const auto window,
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
  ASSAY_ASSIGN_OR_RETURN(auto y,
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

Result<ConvPlan> ConvPlan::Make(WindowSpec spec, int64_t group, const Shape& x,
                                const Shape& w) {
  ASSAY_ASSIGN_OR_RETURN(spec, SpecOfWeights(std::move(spec), x, w));
  if (group < 1 || w[0] % group != 0 || x[1] / group != w[1] ||
      x[1] % group != 0) {
    return InvalidArgument("group is ", group, ", but input X has shape ",
                           x.ToString(), " and input W ", w.ToString());
  }
  ASSAY_ASSIGN_OR_RETURN(const auto window, Window::Plan(spec, x));
  return ConvPlan{.window = window,
                  .images = x[0],
                  .groups = group,
                  .channels = w[1],
                  .filters = w[0] / group};
}

bool ConvPlan::IsDepthwise() const {
  return channels == 1 && filters <= kMostFiltersByTap;
}

bool ConvPlan::IsPointwise() const {
  return std::ranges::all_of(window.axes(), [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 &&
           axis.pad_end == 0;
  });
}

template <class T>
void Convolve(const ConvPlan& plan, const SimdLoops<T>* loops, const T* x,
              const T* w, T* y) {
  Scratch<T> tile;
  for (int64_t n = 0; n < plan.images; ++n) {
    for (int64_t g = 0; g < plan.groups; ++g) {
      const int64_t block = n * plan.groups + g;
      ConvolveGroup(plan, loops,
                    x + block * plan.channels * plan.window.InputSize(),
                    w + g * plan.filters * plan.Inner(),
                    y + block * plan.filters * plan.window.OutputSize(), tile);
    }
  }
}

template void Convolve(const ConvPlan&, const SimdLoops<float>*, const float*,
                       const float*, float*);
template void Convolve(const ConvPlan&, const SimdLoops<double>*, const double*,
                       const double*, double*);
template void Convolve(const ConvPlan&, const SimdLoops<int64_t>*,
                       const int64_t*, const int64_t*, int64_t*);

Status AddBiasFlow(const Tensor& cotangent, int64_t filters, int64_t size,
                   Input bias, GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(auto db, GradientOf<double>(run, bias));
  if (db.data() == nullptr) return OkStatus();
  const Loaded<double> dy(cotangent);
  const int64_t rows = size == 0 ? 0 : dy.size() / size;
  for (int64_t row = 0; row < rows; ++row) {
    double& sum = db[row % filters];
    for (int64_t i = row * size; i < (row + 1) * size; ++i) sum += dy[i];
  }
  return OkStatus();
}

Status CheckSpatialAxes(const LoadContext& load, Input input) {
  const auto& dims = load.type(input).dims;
  if (!dims.has_value() || (dims->size() >= 3 && dims->size() <= 5)) {
    return OkStatus();
  }
  return Unsupported(Reason::kShape, "input ", input.position, " is ",
                     load.type(input).ToString(),
                     ", wanted one to three spatial axes");
}

Family ConvFamily() {
  return FamilyOf(
      Spatial(WithBackward(
          Typed(kFloats, []<class T>() { return &ConvForward<T>; }),
          []<class T>() { return &ConvolveBackward<T>; })),
      Spatial(WithBackward(
          Typed(kFloats, []<class T>() { return &ConvTranspose<T>; }),
          []<class T>() { return &ConvTransposeBackward<T>; })),
      MakeCol2Im);
}

}  // namespace assay::reference
