// SPDX-License-Identifier: Apache-2.0
//
// Pooling: MaxPool, AveragePool and LpPool over windows. Their global forms
// are reductions (reduction.cc).

#include <functional>

#include "backends/reference/codec.h"
#include "backends/reference/families.h"
#include "backends/reference/scalar.h"
#include "backends/reference/window.h"

namespace assay::reference {
namespace {

// The attributes that the three windowed operators have in common.
template <class Op>
WindowSpec SpecOf(const Op& op) {
  return {.kernel_shape = op.kernel_shape,
          .strides = op.strides,
          .dilations = op.dilations,
          .pads = op.pads,
          .auto_pad = op.auto_pad,
          .ceil_mode = op.ceil_mode != 0};
}

// MaxPool-22: the greatest value of each window, the first of equals, and its
// flat index in the input, counted by columns with storage_order 1.
template <class T>
Status MaxPool(const op::MaxPool& op, KernelContext& run) {
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

// AveragePool-22: the sum over each window divided by the number of its taps,
// those in the padding counted when count_include_pad is set.
template <class T>
Status AveragePool(const op::AveragePool& op, KernelContext& run) {
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
      T sum(0);
      int64_t count = 0;
      taps([&](int64_t i) {
        sum += vx[from + i];
        ++count;
      });
      if (op.count_include_pad != 0) count = window.PaddedTaps(o);
      y[to + o] = sum / static_cast<T>(count);
    });
  }
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

template <class Op>
Kernel ForwardOnly(Status (*function)(const Op&, KernelContext&),
                   const Op& op) {
  return {.forward = std::bind_front(function, op)};
}

class Pooling : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::MaxPool& op, LoadContext& load) override {
    return Dispatch(load, op.x, kNumbers, [&](auto scalar) {
      return ForwardOnly(MaxPool<typename decltype(scalar)::type>, op);
    });
  }
  Result<Kernel> Visit(const op::AveragePool& op, LoadContext& load) override {
    return Dispatch(load, op.x, kFloats, [&](auto scalar) {
      return ForwardOnly(AveragePool<typename decltype(scalar)::type>, op);
    });
  }
  Result<Kernel> Visit(const op::LpPool& op, LoadContext& load) override {
    return Dispatch(load, op.x, kFloats, [&](auto scalar) {
      return ForwardOnly(LpPool<typename decltype(scalar)::type>, op);
    });
  }
};

}  // namespace

std::unique_ptr<OperatorVisitor> PoolingFamily() {
  return std::make_unique<Pooling>();
}

}  // namespace assay::reference
