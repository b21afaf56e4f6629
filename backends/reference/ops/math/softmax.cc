// SPDX-License-Identifier: Apache-2.0
//
// Operators that turn each line along an axis into another line: Softmax and
// its kin, norms, and running sums and products.

#include "backends/reference/ops/math/softmax.h"

#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/exponentials.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

/// Writes the line y from the line x, both `count` elements `step` apart.
template <class T>
using Line = std::function<void(const T* x, T* y, int64_t count, int64_t step)>;

/// Writes the line dx, zeros before, from the lines x and dy.
using LineBackward =
    std::function<void(const double* x, const double* dy, double* dx,
                       int64_t count, int64_t step)>;

// y * (dy - sum of dy * y).
void SoftmaxBackward(const double* x, const double* dy, double* dx,
                     int64_t count, int64_t step) {
  Softmax(x, dx, count, step);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += Flow(dy[i * step], dx[i * step]);
  for (int64_t i = 0; i < count; ++i) {
    dx[i * step] = Flow(dy[i * step] - sum, dx[i * step]);
  }
}

// Steps have no slope.
void HardmaxBackward(const double*, const double*, double*, int64_t, int64_t) {}

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

void NormalizeBackward(int64_t p, const double* x, const double* dy, double* dx,
                       int64_t count, int64_t step) {
  NormSum<double> norm(p);
  for (int64_t i = 0; i < count; ++i) norm.Add(x[i * step]);
  const double root = norm.Root();
  if (root == 0) return;
  double sum = 0;  // of y * dy
  for (int64_t i = 0; i < count; ++i) {
    sum += Flow(dy[i * step], x[i * step] / root);
  }
  for (int64_t i = 0; i < count; ++i) {
    const double flow = dy[i * step] - Flow(sum, norm.SlopeAt(x[i * step]));
    dx[i * step] = Flow(flow, 1 / root);
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

  // A sum's runs the other way; a product's takes what flows into each total
  // to the one before.
  void Backward(const double* x, const double* dy, double* dx, int64_t count,
                int64_t step) const {
    if (!product) {
      const Running back{.exclusive = exclusive, .reverse = !reverse};
      back.Along(dy, dx, count, step);
      return;
    }
    const Running before{
        .product = true, .exclusive = true, .reverse = reverse};
    before.Along(x, dx, count, step);
    double flow = 0;  // into the total after x[i]
    for (int64_t k = count; k-- > 0;) {
      const int64_t i = (reverse ? count - 1 - k : k) * step;
      if (!exclusive) flow += dy[i];
      dx[i] = Flow(flow, dx[i]);
      flow = Flow(flow, x[i]);
      if (exclusive) flow += dy[i];
    }
  }
};

template <class T>
Status MapLines(const Tensor& input, int64_t axis, Output output,
                const Line<T>& line, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(input.shape(), axis));
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, output, input.dtype(), input.shape()));
  view.ForEachLine([&](int64_t start) {
    line(x.data() + start, y.data() + start, view.count, view.inner);
  });
  return OkStatus();
}

/// A line that nothing flows into is left out.
Status MapLinesBackward(int64_t axis, const LineBackward& line,
                        GradientContext& run) {
  const Loaded<double> dy(FlowInto(run, kResult));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, kFirst));
  if (dy.data() == nullptr || dx.data() == nullptr) return OkStatus();
  const Tensor& input = run.input(kFirst);
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(input.shape(), axis));
  const Loaded<double> x(input);
  view.ForEachLine([&](int64_t start) {
    if (!AnyFlow(dy.data() + start, view.count, view.inner)) return;
    line(x.data() + start, dy.data() + start, dx.data() + start, view.count,
         view.inner);
  });
  return OkStatus();
}

/// `line` is a generic callable of Line's form.
template <class Op>
Result<Kernel> AlongAxis(LoadContext& load, const Op& op, auto line,
                         const LineBackward& backward) {
  return Dispatch(load, op.input, kFloats, [&]<class T>() -> Kernel {
    Kernel kernel{
        .forward = [op, line = Line<Wide<T>>(line)](KernelContext& run) {
          return MapLines(run.input(op.input), op.axis, op.output, line, run);
        }};
    if constexpr (std::floating_point<T>) {
      kernel.backward = std::bind_front(&MapLinesBackward, op.axis, backward);
    }
    return kernel;
  });
}

template <class Op>
auto Lines(auto line, const LineBackward& backward) {
  return On<Op>([line, backward](const Op& op, LoadContext& load) {
    return AlongAxis(load, op, line, backward);
  });
}

/// The one number of the input axis.
Result<int64_t> AxisIn(const Tensor& tensor) {
  const Loaded<int64_t> axis(tensor);
  if (axis.size() == 1) return axis[0];
  return InvalidArgument("input axis has ", axis.size(),
                         " elements, wanted one");
}

template <class Op>
Result<Kernel> RunAlong(const Op& op, LoadContext& load) {
  return Dispatch(load, op.x, kNumbers, [&]<class S>() -> Kernel {
    using T = Wide<S>;
    const Running running{.product = Op::kId == OperatorId::kCumProd,
                          .exclusive = op.exclusive != 0,
                          .reverse = op.reverse != 0};
    Kernel kernel;
    kernel.forward = [op, running](KernelContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const int64_t axis, AxisIn(run.input(op.axis)));
      return MapLines<T>(
          run.input(op.x), axis, op.y,
          [running](auto... line) { running.Along(line...); }, run);
    };
    if constexpr (std::floating_point<S>) {
      kernel.backward = [op, running](GradientContext& run) -> Status {
        ASSAY_ASSIGN_OR_RETURN(const int64_t axis, AxisIn(run.input(op.axis)));
        return MapLinesBackward(
            axis, [running](auto... line) { running.Backward(line...); }, run);
      };
    }
    return kernel;
  });
}

Result<Kernel> MakeLpNormalization(const op::LpNormalization& op,
                                   LoadContext& load) {
  return AlongAxis(
      load, op, [p = op.p](auto... line) { return Normalize(p, line...); },
      std::bind_front(&NormalizeBackward, op.p));
}

}  // namespace

Family SoftmaxFamily() {
  return FamilyOf(
      Lines<op::Softmax>([](auto... line) { return Softmax(line...); },
                         SoftmaxBackward),
      Lines<op::LogSoftmax>([](auto... line) { return LogSoftmax(line...); },
                            LogSoftmaxBackward),
      Lines<op::Hardmax>([](auto... line) { return Hardmax(line...); },
                         HardmaxBackward),
      MakeLpNormalization, RunAlong<op::CumSum>, RunAlong<op::CumProd>);
}

}  // namespace assay::reference
