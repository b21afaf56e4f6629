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

/// Calls pool(window, x, y, shape), y being of that shape [N, C, ...].
template <class T, class Op, class Pooling>
Status PoolWindows(const Op& op, KernelContext& run, const Pooling& pool) {
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto window,
                         Window::Plan(WindowSpecOf(op), input.shape()));
  const Shape shape = window.OutputShape(input.shape()[0], input.shape()[1]);
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, input.dtype(), shape));
  return pool(window, x.data(), y.data(), shape);
}

/// Calls flow(window, o, taps, x, dy, dx) for each window o that something
/// flows into: dy. taps(visit) visits elements of a channel, which x and dx
/// point to.
template <class Op, class Flowing>
Status PoolWindowsBackward(const Op& op, GradientContext& run,
                           const Flowing& flow) {
  const Loaded<double> dy(FlowInto(run, op.y));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, op.x));
  if (dy.size() == 0 || dx.size() == 0) return OkStatus();
  const Tensor& input = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto window,
                         Window::Plan(WindowSpecOf(op), input.shape()));
  const Loaded<double> x(input);
  const int64_t outputs = window.OutputSize();
  for (int64_t c = 0; outputs > 0 && c < dy.size() / outputs; ++c) {
    const int64_t from = c * window.InputSize();
    window.ForEach([&](int64_t o, auto&& taps) {
      const double into = dy[c * outputs + o];
      if (into == 0) return;
      flow(window, o, taps, x.data() + from, into, dx.data() + from);
    });
  }
  return OkStatus();
}

// MaxPool-22: the greatest value of each window, the first of equals, and its
// flat index in the input, counted by columns with storage_order 1.
template <class T>
Status MaxPool(const op::MaxPool& op, const SimdLoops<T>* loops,
               KernelContext& run) {
  return PoolWindows<T>(
      op, run,
      [&](const Window& window, const T* x, T* y,
          const Shape& shape) -> Status {
        ASSAY_ASSIGN_OR_RETURN(
            auto indices,
            Store<int64_t>(run, op.indices, DType::kInt64, shape));
        for (int64_t c = 0; c < shape[0] * shape[1]; ++c) {
          const int64_t from = c * window.InputSize();
          const int64_t to = c * window.OutputSize();
          if (loops != nullptr && indices.data() == nullptr) {
            std::fill_n(y + to, window.OutputSize(), Bound<T>());
            loops->max_taps(window.axes(), x + from, y + to);
            continue;
          }
          window.ForEach([&](int64_t o, auto&& taps) {
            Choose<T> greatest;
            taps([&](int64_t i) { greatest.Offer(x[from + i], i); });
            y[to + o] = greatest.best();
            if (indices.data() != nullptr) {
              const int64_t i = greatest.index();
              indices[to + o] =
                  from + (op.storage_order == 0 ? i : window.ColumnMajor(i));
            }
          });
        }
        return OkStatus();
      });
}

// To the value that each window chose.
Status MaxPoolBackward(const op::MaxPool& op, GradientContext& run) {
  return PoolWindowsBackward(
      op, run,
      [](const Window&, int64_t, auto&& taps, const double* x, double dy,
         double* dx) {
        Choose<double> greatest;
        taps([&](int64_t i) { greatest.Offer(x[i], i); });
        if (greatest.index() >= 0) dx[greatest.index()] += dy;
      });
}

// How many taps of a window count: those inside the input, or also those in its
// padding.
template <class T, class Taps>
T CountOf(const op::AveragePool& op, const Window& window, int64_t o,
          const Taps& taps) {
  int64_t inside = 0;
  taps([&](int64_t) { ++inside; });
  return static_cast<T>(op.count_include_pad != 0 ? window.PaddedTaps(o)
                                                  : inside);
}

// AveragePool-22: the sum over each window divided by the number of its taps,
// those in the padding counted when count_include_pad is set.
template <class T>
Status AveragePool(const op::AveragePool& op, const SimdLoops<T>* loops,
                   KernelContext& run) {
  return PoolWindows<T>(
      op, run, [&](const Window& window, const T* x, T* y, const Shape& shape) {
        const int64_t outputs = window.OutputSize();
        Scratch<T> counts(static_cast<size_t>(outputs));
        window.ForEach([&](int64_t o, auto&& taps) {
          counts[static_cast<size_t>(o)] = CountOf<T>(op, window, o, taps);
        });
        std::fill_n(y, shape[0] * shape[1] * outputs, T(0));
        for (int64_t c = 0; c < shape[0] * shape[1]; ++c, y += outputs) {
          const T* from = x + c * window.InputSize();
          if (loops != nullptr) {
            loops->add_taps(window.axes(), from, nullptr, y);
          } else {
            window.ForEach([&](int64_t o, auto&& taps) {
              taps([&](int64_t i) { y[o] += from[i]; });
            });
          }
          for (size_t o = 0; o < counts.size(); ++o) y[o] /= counts[o];
        }
        return OkStatus();
      });
}

Status AveragePoolBackward(const op::AveragePool& op, GradientContext& run) {
  return PoolWindowsBackward(op, run,
                             [&](const Window& window, int64_t o, auto&& taps,
                                 const double*, double dy, double* dx) {
                               const double share =
                                   dy / CountOf<double>(op, window, o, taps);
                               taps([&](int64_t i) { dx[i] += share; });
                             });
}

// LpPool-22.
template <class T>
Status LpPool(const op::LpPool& op, KernelContext& run) {
  return PoolWindows<T>(
      op, run, [&](const Window& window, const T* x, T* y, const Shape& shape) {
        for (int64_t c = 0; c < shape[0] * shape[1]; ++c) {
          const T* from = x + c * window.InputSize();
          T* to = y + c * window.OutputSize();
          window.ForEach([&](int64_t o, auto&& taps) {
            NormSum<T> norm(op.p);
            taps([&](int64_t i) { norm.Add(from[i]); });
            to[o] = norm.Root();
          });
        }
        return OkStatus();
      });
}

Status LpPoolBackward(const op::LpPool& op, GradientContext& run) {
  return PoolWindowsBackward(
      op, run,
      [&](const Window&, int64_t, auto&& taps, const double* x, double dy,
          double* dx) {
        NormSum<double> norm(op.p);
        taps([&](int64_t i) { norm.Add(x[i]); });
        taps([&](int64_t i) { dx[i] += Flow(dy, norm.SlopeAt(x[i])); });
      });
}

// MaxUnpool-22: each value where its index says, in a tensor of the extents
// that MaxPool would have come from, which a given output_shape makes larger
// (decision 49); zeros elsewhere.
template <class T>
Status MaxUnpool(const op::MaxUnpool& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Tensor& indices = run.input(op.i);
  ASSAY_ASSIGN_OR_RETURN(
      const auto window,
      Window::PlanTransposed({.kernel_shape = Dims(op.kernel_shape),
                              .strides = Dims(op.strides),
                              .pads = Dims(op.pads)},
                             {}, {}, x.shape()));
  const Shape pooled = window.InputShape(x.shape()[0], x.shape()[1]);
  Shape shape = pooled;
  const Loaded<int64_t> wanted(run.input(op.output_shape));
  if (wanted.data() != nullptr) {
    const auto rank = static_cast<size_t>(wanted.size());
    shape = Shape(std::span(wanted.data(), rank));
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
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.output, x.dtype(), shape));
  std::fill_n(y.data(), y.size(), T(0));
  const Strides from = DenseStrides(pooled);
  const Strides to = DenseStrides(shape);
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, pooled.NumElements());
  for (int64_t i = 0; i < vx.size(); ++i) {
    if (at[i] < 0 || at[i] >= count) {
      return InvalidArgument("index ", at[i], " is outside [0, ", count,
                             "), the elements of ", pooled.ToString());
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
