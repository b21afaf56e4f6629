// SPDX-License-Identifier: Apache-2.0
//
// Operators that turn each line along an axis into another line: Softmax and
// its kin, norms, and running sums and products.

#include "backends/reference/ops/math/softmax.h"

#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/log_sum.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

/// Writes the line y from the line x, both `count` elements `step` apart.
template <class T>
using Line = std::function<void(const T* x, T* y, int64_t count, int64_t step)>;

// Softmax-13: exp(x) / sum of exp(x).
template <class T>
void Softmax(const T* x, T* y, int64_t count, int64_t step) {
  if (count == 0) return;
  const T greatest = Detach(x[PlaceOfGreatest(x, count, step) * step]);
  T sum(0);
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = exp(x[i * step] - greatest);
    sum += y[i * step];
  }
  for (int64_t i = 0; i < count; ++i) y[i * step] = y[i * step] / sum;
}

// Hardmax-13: 1 at the first of the greatest values, 0 elsewhere.
template <class T>
void Hardmax(const T* x, T* y, int64_t count, int64_t step) {
  Choose<T> greatest;
  for (int64_t i = 0; i < count; ++i) greatest.Offer(x[i * step], i);
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = i == greatest.index() ? T(1) : T(0);
  }
}

// LpNormalization-22: x / norm of x; zeros where the norm is 0.
template <class T>
void Normalize(int64_t p, const T* x, T* y, int64_t count, int64_t step) {
  NormSum<T> norm(p);
  for (int64_t i = 0; i < count; ++i) norm.Add(x[i * step]);
  const T root = norm.Root();
  const bool vanishes = Equal(root, T(0));
  for (int64_t i = 0; i < count; ++i) {
    y[i * step] = vanishes ? T(0) : x[i * step] / root;
  }
}

// CumSum-14 and CumProd-26: what is combined up to each element, with the
// element itself unless `exclusive`, from the end when `reverse`.
struct Running {
  bool product = false;
  bool exclusive = false;
  bool reverse = false;

  template <class T>
  void Along(const T* x, T* y, int64_t count, int64_t step) const {
    T total(product ? 1 : 0);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = (reverse ? count - 1 - k : k) * step;
      const T next = product ? total * x[i] : total + x[i];
      y[i] = exclusive ? total : next;
      total = next;
    }
  }
};

template <class T>
Status MapLines(const Tensor& input, int64_t axis, Output output,
                const Line<T>& line, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const AxisView view,
                         AxisView::Of(input.shape(), axis));
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, output, input.dtype(), input.shape()));
  view.ForEachLine([&](int64_t start) {
    line(x.data() + start, y.data() + start, view.count, view.inner);
  });
  return OkStatus();
}

/// `line` is a generic callable of Line's form.
template <class Op>
Result<Kernel> AlongAxis(LoadContext& load, const Op& op, auto line) {
  return Dispatch(load, op.input, kFloats, [&]<class T>() -> Kernel {
    return {.forward = [op, line = Line<Wide<T>>(line)](KernelContext& run) {
      return MapLines(run.input(op.input), op.axis, op.output, line, run);
    }};
  });
}

template <class Op>
auto Lines(auto line) {
  return On<Op>([line](const Op& op, LoadContext& load) {
    return AlongAxis(load, op, line);
  });
}

template <class Op>
Result<Kernel> RunAlong(const Op& op, LoadContext& load) {
  return Dispatch(load, op.x, kNumbers, [&]<class S>() -> Kernel {
    using T = Wide<S>;
    const Running running{.product = Op::kId == OperatorId::kCumProd,
                          .exclusive = op.exclusive != 0,
                          .reverse = op.reverse != 0};
    return {.forward = [op, running](KernelContext& run) -> Status {
      const Loaded<int64_t> axis(run.input(op.axis));
      if (axis.size() != 1) {
        return InvalidArgument("input axis has ", axis.size(),
                               " elements, wanted one");
      }
      return MapLines<T>(
          run.input(op.x), axis[0], op.y,
          [running](const T* x, T* y, int64_t count, int64_t step) {
            running.Along(x, y, count, step);
          },
          run);
    }};
  });
}

Result<Kernel> MakeLpNormalization(const op::LpNormalization& op,
                                   LoadContext& load) {
  return AlongAxis(load, op,
                   [p = op.p](auto... line) { return Normalize(p, line...); });
}

}  // namespace

Family SoftmaxFamily() {
  return FamilyOf(
      Lines<op::Softmax>([](auto... line) { return Softmax(line...); }),
      Lines<op::LogSoftmax>([](auto... line) { return LogSoftmax(line...); }),
      Lines<op::Hardmax>([](auto... line) { return Hardmax(line...); }),
      MakeLpNormalization, RunAlong<op::CumSum>, RunAlong<op::CumProd>);
}

}  // namespace assay::reference
