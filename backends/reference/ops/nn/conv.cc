// SPDX-License-Identifier: Apache-2.0
//
// Conv-22: per image and group one Product of the weights [M/g, C/g * taps] and
// the input unfolded to [C/g * taps, output positions], a tile of positions at
// a time so that the unfolded input stays in the cache. Groups of one channel
// and few filters (depthwise) go tap by tap instead.

#include "backends/reference/ops/nn/conv.h"

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

constexpr int64_t kTileElements = int64_t{1} << 19;
constexpr int64_t kLeastColumns = 128;
constexpr int64_t kMostFiltersByTap = 4;

// `count` values of a line of the input from position `start` on, `stride`
// apart; zeros where they are outside.
template <class T>
void CopyLine(const T* line, int64_t extent, int64_t start, int64_t stride,
              int64_t count, T* row) {
  const auto first_at_least = [&](int64_t position) {
    const int64_t gap = position - start;
    return gap <= 0 ? 0 : std::min(count, (gap + stride - 1) / stride);
  };
  const int64_t begin = first_at_least(0);
  const int64_t end = std::max(begin, first_at_least(extent));
  std::fill(row, row + begin, T(0));
  if (stride == 1) {
    std::copy(line + start + begin, line + start + end, row + begin);
  } else {
    for (int64_t k = begin; k < end; ++k) row[k] = line[start + k * stride];
  }
  std::fill(row + end, row + count, T(0));
}

// One row of the unfolded input: what tap (kx, ky, kz) reads of one channel at
// output positions [first, last).
template <class T>
void UnfoldRow(const Window& window, const std::array<int64_t, 3>& tap,
               const T* image, int64_t first, int64_t last, T* row) {
  const auto& [x, y, z] = window.axes();
  for (int64_t o = first; o < last;) {
    const int64_t oz = o % z.output;
    const int64_t count = std::min(z.output - oz, last - o);
    const int64_t iy = y.Start(o / z.output % y.output) + tap[1] * y.dilation;
    const int64_t ix = x.Start(o / (z.output * y.output)) + tap[0] * x.dilation;
    if (ix >= 0 && ix < x.input && iy >= 0 && iy < y.input) {
      CopyLine(image + (ix * y.input + iy) * z.input, z.input,
               z.Start(oz) + tap[2] * z.dilation, z.stride, count, row);
    } else {
      std::fill_n(row, count, T(0));
    }
    row += count;
    o += count;
  }
}

// The unfolded input of one group: [channels * taps, last - first].
template <class T>
void Unfold(const ConvPlan& plan, const T* x, int64_t first, int64_t last,
            T* unfolded) {
  const auto& [kx, ky, kz] = plan.window.axes();
  for (int64_t c = 0; c < plan.channels; ++c) {
    const T* image = x + c * plan.window.InputSize();
    for (int64_t i = 0; i < kx.kernel; ++i) {
      for (int64_t j = 0; j < ky.kernel; ++j) {
        for (int64_t k = 0; k < kz.kernel; ++k) {
          UnfoldRow(plan.window, {i, j, k}, image, first, last, unfolded);
          unfolded += last - first;
        }
      }
    }
  }
}

// y += w * unfolded x, for one image and one group.
template <class T>
void ConvolveGroup(const ConvPlan& plan, const SimdLoops<T>* loops, const T* x,
                   const T* w, T* y, std::vector<T>& tile) {
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
  const int64_t columns = std::min(
      outputs,
      std::max(kTileElements / std::max<int64_t>(inner, 1), kLeastColumns));
  tile.resize(static_cast<size_t>(inner * columns));
  for (int64_t first = 0; first < outputs; first += columns) {
    const int64_t last = std::min(first + columns, outputs);
    Unfold(plan, x, first, last, tile.data());
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
  ASSAY_ASSIGN_OR_RETURN(const ConvPlan plan,
                         ConvPlan::Of(op, x.shape(), w.shape()));
  const int64_t filters = plan.Filters();
  const Loaded<T> vx(x);
  const Loaded<T> vw(w);
  const Loaded<T> bias(run.input(op.b));
  if (bias.data() != nullptr && bias.size() != filters) {
    return InvalidArgument("input B has ", bias.size(), " elements, wanted ",
                           filters);
  }
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.y, x.dtype(), plan.OutputShape()));
  const int64_t outputs = plan.window.OutputSize();
  for (int64_t m = 0; m < plan.images * filters; ++m) {
    std::fill_n(y.data() + m * outputs, outputs,
                bias.data() == nullptr ? T(0) : bias[m % filters]);
  }
  Convolve(plan, loops, vx.data(), vw.data(), y.data());
  return OkStatus();
}

}  // namespace

Result<ConvPlan> ConvPlan::Make(WindowSpec spec, int64_t group, const Shape& x,
                                const Shape& w) {
  if (x.rank() < 3 || w.rank() != x.rank()) {
    return InvalidArgument("input X of shape ", x.ToString(),
                           " and input W of shape ", w.ToString(),
                           ", wanted equal ranks of at least 3");
  }
  const std::vector<int64_t> kernel = {w.begin() + 2, w.end()};
  if (!spec.kernel_shape.empty() && spec.kernel_shape != kernel) {
    return InvalidArgument("kernel_shape is ",
                           Shape(spec.kernel_shape).ToString(),
                           ", but input W has shape ", w.ToString());
  }
  spec.kernel_shape = kernel;
  if (group < 1 || w[0] % group != 0 || x[1] / group != w[1] ||
      x[1] % group != 0) {
    return InvalidArgument("group is ", group, ", but input X has shape ",
                           x.ToString(), " and input W ", w.ToString());
  }
  ASSAY_ASSIGN_OR_RETURN(const Window window, Window::Plan(spec, x));
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
  std::vector<T> tile;
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
      Spatial(Typed(kFloats, []<class T>() { return &ConvForward<T>; })));
}

}  // namespace assay::reference
