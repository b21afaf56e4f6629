// SPDX-License-Identifier: Apache-2.0
//
// Pooling: MaxPool, AveragePool and LpPool over windows. Their global forms
// are reductions (reduction.cc).

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/loop/window.h"
#include "backends/reference/ops/nn/conv.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// The attributes that the three windowed operators have in common.
template <class Op>
WindowSpec SpecOf(const Op& op) {
  return {.kernel_shape = Dims(op.kernel_shape),
          .strides = Dims(op.strides),
          .dilations = Dims(op.dilations),
          .pads = Dims(op.pads),
          .auto_pad = op.auto_pad,
          .ceil_mode = op.ceil_mode != 0};
}

// MaxPool-22: the greatest value of each window, the first of equals, and its
// flat index in the input, counted by columns with storage_order 1.
template <class T>
Status MaxPool(const op::MaxPool& op, const SimdLoops<T>* loops,
               KernelContext& run) {
  const Tensor& x = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan(SpecOf(op), x.shape()));
  const Shape shape = window.OutputShape(x.shape()[0], x.shape()[1]);
  const Loaded<T> vx(x);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y, Store<T>(run, op.y, x.dtype(), shape));
  ASSAY_ASSIGN_OR_RETURN(Stored<int64_t> indices,
                         Store<int64_t>(run, op.indices, DType::kInt64, shape));
  for (int64_t c = 0; c < shape[0] * shape[1]; ++c) {
    const int64_t from = c * window.InputSize();
    const int64_t to = c * window.OutputSize();
    if (loops != nullptr && indices.data() == nullptr) {
      std::fill_n(y.data() + to, window.OutputSize(), Bound<T>());
      loops->max_taps(window.axes(), vx.data() + from, y.data() + to);
      continue;
    }
    window.ForEach([&](int64_t o, auto&& taps) {
      Choose<T> greatest;
      taps([&](int64_t i) { greatest.Offer(vx[from + i], i); });
      y[to + o] = greatest.best();
      if (indices.data() != nullptr) {
        const int64_t i = greatest.index();
        indices[to + o] =
            from + (op.storage_order == 0 ? i : window.ColumnMajor(i));
      }
    });
  }
  return OkStatus();
}

/// Calls flow(from, to, taps) for each window that something flows into, of the
/// element dy[to]; taps(visit) visits elements of a channel that starts at
/// `from`.
template <class Flowing>
void ForEachFlow(const Window& window, const Loaded<double>& dy,
                 const Flowing& flow) {
  const int64_t outputs = window.OutputSize();
  for (int64_t c = 0; outputs > 0 && c < dy.size() / outputs; ++c) {
    window.ForEach([&](int64_t o, auto&& taps) {
      if (dy[c * outputs + o] == 0) return;
      flow(c * window.InputSize(), c * outputs + o, taps);
    });
  }
}

// To the value that each window chose.
Status MaxPoolBackward(const op::MaxPool& op, GradientContext& run) {
  const Loaded<double> dy(FlowInto(run, op.y));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dx, GradientOf<double>(run, op.x));
  if (dy.size() == 0 || dx.size() == 0) return OkStatus();
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan(SpecOf(op), input.shape()));
  const Loaded<double> x(input);
  ForEachFlow(window, dy, [&](int64_t from, int64_t to, auto&& taps) {
    Choose<double> greatest;
    taps([&](int64_t i) { greatest.Offer(x[from + i], i); });
    if (greatest.index() >= 0) dx[from + greatest.index()] += dy[to];
  });
  return OkStatus();
}

// How many taps of each window count: those inside the input, or also those in
// its padding.
template <class T>
std::vector<T> Counts(const Window& window, bool include_pad) {
  std::vector<T> counts(static_cast<size_t>(window.OutputSize()));
  window.ForEach([&](int64_t o, auto&& taps) {
    int64_t inside = 0;
    taps([&](int64_t) { ++inside; });
    counts[static_cast<size_t>(o)] =
        static_cast<T>(include_pad ? window.PaddedTaps(o) : inside);
  });
  return counts;
}

// AveragePool-22: the sum over each window divided by the number of its taps,
// those in the padding counted when count_include_pad is set.
template <class T>
Status AveragePool(const op::AveragePool& op, const SimdLoops<T>* loops,
                   KernelContext& run) {
  const Tensor& x = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan(SpecOf(op), x.shape()));
  const Shape shape = window.OutputShape(x.shape()[0], x.shape()[1]);
  const Loaded<T> vx(x);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y, Store<T>(run, op.y, x.dtype(), shape));
  const std::vector<T> counts = Counts<T>(window, op.count_include_pad != 0);
  std::fill_n(y.data(), y.size(), T(0));
  for (int64_t c = 0; c < shape[0] * shape[1]; ++c) {
    const T* from = vx.data() + c * window.InputSize();
    T* to = y.data() + c * window.OutputSize();
    if (loops != nullptr) {
      loops->add_taps(window.axes(), from, nullptr, to);
    } else {
      window.ForEach([&](int64_t o, auto&& taps) {
        taps([&](int64_t i) { to[o] += from[i]; });
      });
    }
    for (size_t o = 0; o < counts.size(); ++o) to[o] /= counts[o];
  }
  return OkStatus();
}

Status AveragePoolBackward(const op::AveragePool& op, GradientContext& run) {
  const Loaded<double> dy(FlowInto(run, op.y));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dx, GradientOf<double>(run, op.x));
  if (dy.size() == 0 || dx.size() == 0) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan(SpecOf(op), run.input(op.x).shape()));
  const std::vector<double> counts =
      Counts<double>(window, op.count_include_pad != 0);
  ForEachFlow(window, dy, [&](int64_t from, int64_t to, auto&& taps) {
    const double share =
        dy[to] / counts[static_cast<size_t>(to) % counts.size()];
    taps([&](int64_t i) { dx[from + i] += share; });
  });
  return OkStatus();
}

// LpPool-22.
template <class T>
Status LpPool(const op::LpPool& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan(SpecOf(op), x.shape()));
  const Shape shape = window.OutputShape(x.shape()[0], x.shape()[1]);
  const Loaded<T> vx(x);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y, Store<T>(run, op.y, x.dtype(), shape));
  for (int64_t c = 0; c < shape[0] * shape[1]; ++c) {
    const int64_t from = c * window.InputSize();
    const int64_t to = c * window.OutputSize();
    window.ForEach([&](int64_t o, auto&& taps) {
      NormSum<T> norm(op.p);
      taps([&](int64_t i) { norm.Add(vx[from + i]); });
      y[to + o] = norm.Root();
    });
  }
  return OkStatus();
}

Status LpPoolBackward(const op::LpPool& op, GradientContext& run) {
  const Loaded<double> dy(FlowInto(run, op.y));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dx, GradientOf<double>(run, op.x));
  if (dy.size() == 0 || dx.size() == 0) return OkStatus();
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         Window::Plan(SpecOf(op), input.shape()));
  const Loaded<double> x(input);
  ForEachFlow(window, dy, [&](int64_t from, int64_t to, auto&& taps) {
    NormSum<double> norm(op.p);
    taps([&](int64_t i) { norm.Add(x[from + i]); });
    taps([&](int64_t i) {
      dx[from + i] += Flow(dy[to], norm.SlopeAt(x[from + i]));
    });
  });
  return OkStatus();
}

// MaxUnpool-22: each value where its index says, in a tensor of the extents
// that MaxPool would have come from, which a given output_shape makes larger;
// zeros elsewhere.
template <class T>
Status MaxUnpool(const op::MaxUnpool& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Tensor& indices = run.input(op.i);
  ASSAY_ASSIGN_OR_RETURN(
      const Window window,
      Window::PlanTransposed({.kernel_shape = Dims(op.kernel_shape),
                              .strides = Dims(op.strides),
                              .pads = Dims(op.pads)},
                             {}, {}, x.shape()));
  const Shape pooled = window.InputShape(x.shape()[0], x.shape()[1]);
  Shape shape = pooled;
  const Loaded<int64_t> wanted(run.input(op.output_shape));
  if (wanted.data() != nullptr) {
    shape = Shape(
        std::vector<int64_t>(wanted.data(), wanted.data() + wanted.size()));
  }
  bool fits = indices.shape() == x.shape() && shape.rank() == pooled.rank();
  for (int k = 0; fits && k < shape.rank(); ++k) fits = shape[k] >= pooled[k];
  if (!fits) {
    return InvalidArgument("indices of shape ", indices.shape().ToString(),
                           " and an output of shape ", shape.ToString(),
                           ", wanted ", x.shape().ToString(), " and at least ",
                           pooled.ToString());
  }
  const Loaded<T> vx(x);
  const Loaded<int64_t> at(indices);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.output, x.dtype(), shape));
  std::fill_n(y.data(), y.size(), T(0));
  const Strides from = DenseStrides(pooled);
  const Strides to = DenseStrides(shape);
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, pooled.NumElements());
  for (int64_t i = 0; i < vx.size(); ++i) {
    if (at[i] < 0 || at[i] >= count) {
      return InvalidArgument("index ", at[i], " is outside [0, ", count, ")");
    }
    int64_t place = 0;
    int64_t rest = at[i];
    for (size_t k = 0; k < from.size(); ++k) {
      place += rest / from[k] * to[k];
      rest %= from[k];
    }
    y[place] = vx[i];
  }
  return OkStatus();
}

}  // namespace

Family PoolingFamily() {
  return FamilyOf(
      Spatial(
          WithBackward(Typed(kNumbers, []<class T>() { return &MaxPool<T>; }),
                       MaxPoolBackward)),
      Spatial(WithBackward(
          Typed(kFloats, []<class T>() { return &AveragePool<T>; }),
          AveragePoolBackward)),
      Spatial(WithBackward(Typed(kFloats, []<class T>() { return &LpPool<T>; }),
                           LpPoolBackward)),
      Spatial(Typed(kFloats, []<class T>() { return &MaxUnpool<T>; })));
}

}  // namespace assay::reference
