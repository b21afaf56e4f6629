// SPDX-License-Identifier: Apache-2.0
//
// Reductions over a set of axes, and global pooling, which reduces all spatial
// axes. Each formula is a function of the values that one result comes from,
// in row-major order.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/log_sum.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

template <class T>
using Formula = std::function<T(const T* values, int64_t count)>;

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
T Product(const T* x, int64_t count) {
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

/// Which axes of the input go, and the shape that stays.
struct ReductionPlan {
  Shape kept;     // 1 along reduced axes
  Shape reduced;  // 1 along kept axes
  Shape result;

  static ReductionPlan Of(const Shape& shape, const std::vector<bool>& reduces,
                          bool keep_dims) {
    std::vector<int64_t> kept;
    std::vector<int64_t> reduced;
    std::vector<int64_t> result;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const bool goes = reduces[static_cast<size_t>(axis)];
      kept.push_back(goes ? 1 : shape[axis]);
      reduced.push_back(goes ? shape[axis] : 1);
      if (!goes || keep_dims) result.push_back(kept.back());
    }
    return {Shape(std::move(kept)), Shape(std::move(reduced)),
            Shape(std::move(result))};
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

template <class T>
Status Reduce(const Tensor& input, const std::vector<bool>& reduces,
              bool keep_dims, const Formula<T>& formula, KernelContext& run) {
  const Shape& shape = input.shape();
  const auto plan = ReductionPlan::Of(shape, reduces, keep_dims);
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(
      Stored<T> y, Store<T>(run, Output{0, true}, input.dtype(), plan.result));
  if (y.size() == 0) return OkStatus();
  const Strides strides = DenseStrides(shape);
  const Nest<1> kept(plan.kept, {strides});
  const Nest<1> reduced(plan.reduced, {strides});
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, plan.reduced.NumElements());
  std::vector<T> values(static_cast<size_t>(count));
  int64_t at = 0;
  kept.ForEachRow([&](const Nest<1>::Row& row) {
    for (int64_t i = 0; i < row.count; ++i) {
      T* next = values.data();
      reduced.ForEachRow(
          [&](const Nest<1>::Row& part) {
            const T* from = x.data() + part.at[0];
            for (int64_t k = 0; k < part.count; ++k) {
              *next++ = from[k * part.step[0]];
            }
          },
          {row.at[0] + i * row.step[0]});
      const T result = formula(values.data(), count);
      y[at++] = count == 0 ? WithinType(result, input.dtype()) : result;
    }
  });
  return OkStatus();
}

// "If axes is empty: with noop_with_empty_axes none is reduced, else all are."
Result<std::vector<bool>> ReducedAxes(const Tensor& axes, int rank, bool noop) {
  const Loaded<int64_t> given(axes);
  std::vector<bool> reduces(static_cast<size_t>(rank),
                            given.size() == 0 && !noop);
  for (int64_t i = 0; i < given.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(given[i], rank));
    reduces[static_cast<size_t>(axis)] = true;
  }
  return reduces;
}

/// `formula` is a generic callable of Formula's form.
template <class Op>
auto OverAxes(const auto& scalars, auto formula) {
  return On<Op>([=](const Op& op, LoadContext& load) {
    return Dispatch(load, op.data, scalars, [&]<class S>() {
      using T = Wide<S>;
      return [op, formula = Formula<T>(formula)](KernelContext& run) -> Status {
        const Tensor& data = run.input(op.data);
        ASSAY_ASSIGN_OR_RETURN(
            const std::vector<bool> reduces,
            ReducedAxes(run.input(op.axes), data.shape().rank(),
                        op.noop_with_empty_axes != 0));
        return Reduce(data, reduces, op.keepdims != 0, formula, run);
      };
    });
  });
}

// GlobalMaxPool-22, GlobalAveragePool-22, GlobalLpPool-22: [N, C, spatial...]
// to [N, C, 1...].
template <class Op>
Result<Kernel> OverChannels(LoadContext& load, const Op& op, auto formula) {
  return Dispatch(load, op.x, kFloats, [&]<class T>() -> Kernel {
    return {.forward = [op, formula = Formula<T>(formula)](
                           KernelContext& run) -> Status {
      const Tensor& x = run.input(op.x);
      if (x.shape().rank() < 2) {
        return InvalidArgument("an input of shape ", x.shape().ToString(),
                               ", wanted at least two axes");
      }
      std::vector<bool> reduces(static_cast<size_t>(x.shape().rank()), true);
      reduces[0] = reduces[1] = false;
      return Reduce(x, reduces, /*keep_dims=*/true, formula, run);
    }};
  });
}

Result<Kernel> MakeGlobalMaxPool(const op::GlobalMaxPool& op,
                                 LoadContext& load) {
  return OverChannels(load, op,
                      [](const auto* x, int64_t n) { return Extreme(x, n); });
}

Result<Kernel> MakeGlobalAveragePool(const op::GlobalAveragePool& op,
                                     LoadContext& load) {
  return OverChannels(load, op,
                      [](const auto* x, int64_t n) { return Mean(x, n); });
}

Result<Kernel> MakeGlobalLpPool(const op::GlobalLpPool& op, LoadContext& load) {
  return OverChannels(
      load, op, [p = op.p](const auto* x, int64_t n) { return Norm(p, x, n); });
}

}  // namespace

Family ReductionFamily() {
  return FamilyOf(
      OverAxes<op::ReduceSum>(
          kNumbers, [](const auto* x, int64_t n) { return Sum(x, n); }),
      OverAxes<op::ReduceMean>(
          kNumbers, [](const auto* x, int64_t n) { return Mean(x, n); }),
      OverAxes<op::ReduceProd>(
          kNumbers, [](const auto* x, int64_t n) { return Product(x, n); }),
      OverAxes<op::ReduceMax>(
          kNumbers, [](const auto* x, int64_t n) { return Extreme(x, n); }),
      OverAxes<op::ReduceMin>(kNumbers,
                              []<class T>(const T* x, int64_t n) {
                                return Extreme<T, true>(x, n);
                              }),
      OverAxes<op::ReduceL1>(
          kNumbers,
          [](const auto* x, int64_t n) { return SumOfMagnitudes(x, n); }),
      OverAxes<op::ReduceL2>(
          kNumbers,
          [](const auto* x, int64_t n) { return sqrt(SumOfSquares(x, n)); }),
      OverAxes<op::ReduceSumSquare>(
          kNumbers,
          [](const auto* x, int64_t n) { return SumOfSquares(x, n); }),
      OverAxes<op::ReduceLogSum>(
          kFloats, [](const auto* x, int64_t n) { return log(Sum(x, n)); }),
      OverAxes<op::ReduceLogSumExp>(
          kFloats, [](const auto* x, int64_t n) { return LogSumExp(x, n); }),
      MakeGlobalMaxPool, MakeGlobalAveragePool, MakeGlobalLpPool);
}

}  // namespace assay::reference
