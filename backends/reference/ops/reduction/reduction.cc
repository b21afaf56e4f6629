// SPDX-License-Identifier: Apache-2.0
//
// Reductions over a set of axes, and global pooling, which reduces all spatial
// axes. Each formula is a function of the values that one result comes from,
// in row-major order.

#include <algorithm>
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

template <class T>
using Formula = std::function<T(const T* values, int64_t count)>;

/// Writes the derivatives of a formula after each of its values.
using Slopes =
    std::function<void(const double* values, int64_t count, double* slopes)>;

template <class T>
T Sum(const T* x, int64_t count) {
  T sum(0);
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

template <class T>
T Mean(const T* x, int64_t count) {
  if constexpr (std::integral<T>) {
    if (count == 0) return 0;
  }
  return Sum(x, count) / static_cast<T>(count);
}

template <class T>
T ProductOf(const T* x, int64_t count) {
  T product(1);
  for (int64_t i = 0; i < count; ++i) product *= x[i];
  return product;
}

template <class T, bool kLeast = false>
T Extreme(const T* x, int64_t count) {
  Choose<T, kLeast> extreme;
  for (int64_t i = 0; i < count; ++i) extreme.Offer(x[i], i);
  return extreme.best();
}

template <class T>
T SumOfMagnitudes(const T* x, int64_t count) {
  T sum(0);
  for (int64_t i = 0; i < count; ++i) sum += abs(x[i]);
  return sum;
}

template <class T>
T SumOfSquares(const T* x, int64_t count) {
  T sum(0);
  for (int64_t i = 0; i < count; ++i) sum += x[i] * x[i];
  return sum;
}

// log(sum of exp(x)), shifted by the greatest, which no derivative flows
// through; an infinite one is no shift.
template <class T>
T LogSumExp(const T* x, int64_t count) {
  if (count == 0) return Bound<T>();
  const int64_t place = PlaceOfGreatest(x, count, 1);
  const bool finite = std::isfinite(static_cast<double>(Value(x[place])));
  const T shift = finite ? Detach(x[place]) : T(0);
  return LogOfSum(x, count, 1, place, shift) + shift;
}

template <class T>
T Norm(int64_t p, const T* x, int64_t count) {
  NormSum<T> norm(p);
  for (int64_t i = 0; i < count; ++i) norm.Add(x[i]);
  return norm.Root();
}

// 1 / scale each.
void EqualSlopes(double scale, int64_t count, double* slopes) {
  std::fill_n(slopes, count, 1 / scale);
}

const Slopes kOfMean = [](const double*, int64_t count, double* slopes) {
  EqualSlopes(static_cast<double>(count), count, slopes);
};

// The product of all others.
void ProductSlopes(const double* x, int64_t count, double* slopes) {
  double product = 1;  // of those before
  for (int64_t i = 0; i < count; ++i) {
    slopes[i] = product;
    product = Flow(product, x[i]);
  }
  product = 1;  // of those after
  for (int64_t i = count; i-- > 0;) {
    slopes[i] = Flow(product, slopes[i]);
    product = Flow(product, x[i]);
  }
}

template <bool kLeast = false>
void ExtremeSlopes(const double* x, int64_t count, double* slopes) {
  Choose<double, kLeast> extreme;
  for (int64_t i = 0; i < count; ++i) extreme.Offer(x[i], i);
  std::fill_n(slopes, count, 0.0);
  if (count > 0) slopes[extreme.index()] = 1;
}

void NormSlopes(int64_t p, const double* x, int64_t count, double* slopes) {
  NormSum<double> norm(p);
  for (int64_t i = 0; i < count; ++i) norm.Add(x[i]);
  for (int64_t i = 0; i < count; ++i) slopes[i] = norm.SlopeAt(x[i]);
}

// Softmax, and 0 where the sum is infinite or 0.
void LogSumExpSlopes(const double* x, int64_t count, double* slopes) {
  if (std::isinf(LogSumExp(x, count))) {
    std::fill_n(slopes, count, 0.0);
  } else {
    Softmax(x, slopes, count, 1);
  }
}

/// For each axis of the input 1 where it goes, else 0.
using Axes = InlineVector<uint8_t, 8>;

/// The shapes that it goes through.
struct ReductionPlan {
  Shape kept;     // 1 along reduced axes
  Shape reduced;  // 1 along kept axes
  Shape result;

  static ReductionPlan Of(const Shape& shape, const Axes& reduces,
                          bool keep_dims) {
    Dims kept, reduced, result;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const bool goes = reduces[static_cast<size_t>(axis)] != 0;
      kept.push_back(goes ? 1 : shape[axis]);
      reduced.push_back(goes ? shape[axis] : 1);
      if (!goes || keep_dims) result.push_back(kept.back());
    }
    return {Shape(kept), Shape(reduced), Shape(result)};
  }
};

// The maximum or minimum of no values of a narrow integer type is the extreme
// of that type, not of the scalar that it computes in.
template <class T>
T WithinType(T value, DType type) {
  if constexpr (std::integral<T>) {
    const int bits = BitsOf(type);
    if (bits == 64) return value;
    const T one(1);
    return std::signed_integral<T> ? std::clamp<T>(value, -(one << (bits - 1)),
                                                   (one << (bits - 1)) - 1)
                                   : std::min<T>(value, (one << bits) - 1);
  }
  return value;
}

/// The loops over results and over the values that each comes from.
struct ReductionLoops {
  static Result<ReductionLoops> Of(const Shape& shape,
                                   const ReductionPlan& plan) {
    const Strides strides = DenseStrides(shape);
    ASSAY_ASSIGN_OR_RETURN(const int64_t count, plan.reduced.NumElements());
    return ReductionLoops{Nest<1>(plan.kept, {strides}),
                          Nest<1>(plan.reduced, {strides}), count};
  }

  /// Calls visit(at, step, count) for every run of values of the result at
  /// `start`, the innermost axis.
  template <class Visit>
  void ForEachRun(int64_t start, Visit&& visit) const {
    reduced.ForEachRow(
        [&](const Nest<1>::Row& part) {
          visit(part.at[0], part.step[0], part.count);
        },
        {start});
  }

  /// Copies the values of the result at `start`.
  template <class T>
  void Gather(const T* x, int64_t start, T* values) const {
    ForEachRun(start, [&](int64_t at, int64_t step, int64_t run) {
      const T* from = x + at;
      for (int64_t k = 0; k < run; ++k) *values++ = from[k * step];
    });
  }

  Nest<1> kept;  // over the starts of results, in order
  Nest<1> reduced;
  int64_t count = 0;  // values of a result
};

template <class T>
Status Reduce(const Tensor& input, const Axes& reduces, bool keep_dims,
              const Formula<T>& formula, KernelContext& run) {
  const Shape& shape = input.shape();
  const auto plan = ReductionPlan::Of(shape, reduces, keep_dims);
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, Output{0, true}, input.dtype(), plan.result));
  if (y.size() == 0) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto loops, ReductionLoops::Of(shape, plan));
  Scratch<T> values(static_cast<size_t>(loops.count));
  int64_t at = 0;
  loops.kept.ForEach([&](int64_t start) {
    loops.Gather(x.data(), start, values.data());
    const T result = formula(values.data(), loops.count);
    y[at++] = loops.count == 0 ? WithinType(result, input.dtype()) : result;
  });
  return OkStatus();
}

Status ReduceBackward(const Axes& reduces, const Slopes& slopes,
                      GradientContext& run) {
  const Tensor& input = run.input(kFirst);
  const Loaded<double> dy(FlowInto(run, kResult));
  ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, kFirst));
  if (dy.size() == 0 || dx.size() == 0) return OkStatus();
  const Loaded<double> x(input);
  const auto plan = ReductionPlan::Of(input.shape(), reduces, true);
  ASSAY_ASSIGN_OR_RETURN(const auto loops,
                         ReductionLoops::Of(input.shape(), plan));
  Scratch<double> values(static_cast<size_t>(loops.count));
  Scratch<double> of_values(values.size());
  int64_t at = 0;
  loops.kept.ForEach([&](int64_t start) {
    const double flow = dy[at++];
    if (flow == 0) return;
    loops.Gather(x.data(), start, values.data());
    slopes(values.data(), loops.count, of_values.data());
    const double* slope = of_values.data();
    loops.ForEachRun(start, [&](int64_t to, int64_t step, int64_t run) {
      for (int64_t k = 0; k < run; ++k)
        dx[to + k * step] = Flow(flow, *slope++);
    });
  });
  return OkStatus();
}

// "If axes is empty: with noop_with_empty_axes none is reduced, else all are."
Result<Axes> ReducedAxes(const Tensor& axes, int rank, bool noop) {
  const Loaded<int64_t> given(axes);
  Axes reduces(static_cast<size_t>(rank), given.size() == 0 && !noop ? 1 : 0);
  for (int64_t i = 0; i < given.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(given[i], rank));
    reduces[static_cast<size_t>(axis)] = 1;
  }
  return reduces;
}

/// A kernel whose forward is `formula`, a generic callable of Formula's form,
/// over the axes that reduces(run) finds, or why it does not.
template <class T>
Kernel ReducingKernel(bool keep_dims, auto reduces, auto formula,
                      const Slopes& slopes) {
  Kernel kernel;
  kernel.forward =
      [=, formula = Formula<Wide<T>>(formula)](KernelContext& run) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const Axes axes, reduces(run));
    return Reduce(run.input(kFirst), axes, keep_dims, formula, run);
  };
  if constexpr (std::floating_point<T>) {
    kernel.backward = [=](GradientContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const Axes axes, reduces(run));
      return ReduceBackward(axes, slopes, run);
    };
  }
  return kernel;
}

template <class Op>
auto OverAxes(const auto& scalars, auto formula, const Slopes& slopes) {
  return On<Op>([=](const Op& op, LoadContext& load) {
    const auto reduces = [op](const auto& run) {
      return ReducedAxes(run.input(op.axes), run.input(op.data).shape().rank(),
                         op.noop_with_empty_axes != 0);
    };
    return Dispatch(load, op.data, scalars, [&]<class T>() {
      return ReducingKernel<T>(op.keepdims != 0, reduces, formula, slopes);
    });
  });
}

// GlobalMaxPool-22, GlobalAveragePool-22, GlobalLpPool-22: [N, C, spatial...]
// to [N, C, 1...].
template <class Op>
Result<Kernel> OverChannels(LoadContext& load, const Op& op, auto formula,
                            const Slopes& slopes) {
  const auto reduces = [](const auto& run) -> Result<Axes> {
    const Shape& shape = run.input(kFirst).shape();
    if (shape.rank() < 2) {
      return InvalidArgument("an input of shape ", shape.ToString(),
                             ", wanted at least two axes");
    }
    Axes axes(static_cast<size_t>(shape.rank()), 1);
    axes[0] = axes[1] = 0;
    return axes;
  };
  return Dispatch(load, op.x, kFloats, [&]<class T>() {
    return ReducingKernel<T>(/*keep_dims=*/true, reduces, formula, slopes);
  });
}

template <class Op>
auto OfChannels(auto formula, const Slopes& slopes) {
  return On<Op>([=](const Op& op, LoadContext& load) {
    return OverChannels(load, op, formula, slopes);
  });
}

Result<Kernel> MakeGlobalLpPool(const op::GlobalLpPool& op, LoadContext& load) {
  return OverChannels(
      load, op, [p = op.p](const auto* x, int64_t n) { return Norm(p, x, n); },
      std::bind_front(&NormSlopes, op.p));
}

}  // namespace

Family ReductionFamily() {
  return FamilyOf(
      OverAxes<op::ReduceSum>(
          kNumbers, [](const auto* x, int64_t n) { return Sum(x, n); },
          [](const double*, int64_t n, double* s) { EqualSlopes(1, n, s); }),
      OverAxes<op::ReduceMean>(
          kNumbers, [](const auto* x, int64_t n) { return Mean(x, n); },
          kOfMean),
      OverAxes<op::ReduceProd>(
          kNumbers, [](const auto* x, int64_t n) { return ProductOf(x, n); },
          ProductSlopes),
      OverAxes<op::ReduceMax>(
          kNumbers, [](const auto* x, int64_t n) { return Extreme(x, n); },
          ExtremeSlopes<>),
      OverAxes<op::ReduceMin>(
          kNumbers,
          []<class T>(const T* x, int64_t n) { return Extreme<T, true>(x, n); },
          ExtremeSlopes<true>),
      OverAxes<op::ReduceL1>(
          kNumbers,
          [](const auto* x, int64_t n) { return SumOfMagnitudes(x, n); },
          std::bind_front(&NormSlopes, 1)),
      OverAxes<op::ReduceL2>(
          kNumbers,
          []<class T>(const T* x, int64_t n) {
            if constexpr (std::same_as<T, Var>) {
              return Norm(2, x, n);  // which has a kink
            } else {
              return sqrt(SumOfSquares(x, n));
            }
          },
          std::bind_front(&NormSlopes, 2)),
      OverAxes<op::ReduceSumSquare>(
          kNumbers, [](const auto* x, int64_t n) { return SumOfSquares(x, n); },
          [](const double* x, int64_t n, double* s) {
            for (int64_t i = 0; i < n; ++i) s[i] = x[i] + x[i];
          }),
      OverAxes<op::ReduceLogSum>(
          kFloats, [](const auto* x, int64_t n) { return log(Sum(x, n)); },
          [](const double* x, int64_t n, double* s) {
            EqualSlopes(Sum(x, n), n, s);
          }),
      OverAxes<op::ReduceLogSumExp>(
          kFloats, [](const auto* x, int64_t n) { return LogSumExp(x, n); },
          LogSumExpSlopes),
      OfChannels<op::GlobalMaxPool>(
          [](const auto* x, int64_t n) { return Extreme(x, n); },
          ExtremeSlopes<>),
      OfChannels<op::GlobalAveragePool>(
          [](const auto* x, int64_t n) { return Mean(x, n); }, kOfMean),
      MakeGlobalLpPool);
}

}  // namespace assay::reference
