// SPDX-License-Identifier: Apache-2.0
//
// Linear maps of lines and matrices: Det and DFT.

#include <utility>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/math/fourier.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

// By elimination with the greatest of each column as the pivot.
template <PlainScalar T>
T Determinant(Scratch<T> a, int64_t n) {
  const auto at = [&](int64_t i, int64_t j) -> T& {
    return a[static_cast<size_t>(i * n + j)];
  };
  T determinant(1);
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (abs(at(i, k)) > abs(at(pivot, k))) pivot = i;
    }
    if (at(pivot, k) == 0) return 0;
    if (pivot != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
      determinant = -determinant;
    }
    determinant *= at(k, k);
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = at(i, k) / at(k, k);
      for (int64_t j = k + 1; j < n; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  return determinant;
}

// Without a division and without a decision, so that it and its derivatives are
// right where the matrix is singular. (Bird, A simple division-free algorithm
// for computing determinants, Information Processing Letters 111, 2011.)
Var Determinant(const Scratch<Var>& a, int64_t n) {
  if (n == 0) return Var(1);
  const auto at = [n](int64_t i, int64_t j) {
    return static_cast<size_t>(i * n + j);
  };
  Scratch<Var> f = a;
  for (int64_t step = 1; step < n; ++step) {
    // Above the diagonal as f; on it, less what is further down on f's.
    Scratch<Var> upper(f.size());
    Var below(0);
    for (int64_t i = n; i-- > 0;) {
      for (int64_t j = i + 1; j < n; ++j) upper[at(i, j)] = f[at(i, j)];
      upper[at(i, i)] = -below;
      below = below + f[at(i, i)];
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Var sum(0);
        for (int64_t k = i; k < n; ++k) {
          sum = sum + upper[at(i, k)] * a[at(k, j)];
        }
        f[at(i, j)] = sum;
      }
    }
  }
  return n % 2 == 0 ? -f[0] : f[0];
}

// Det-22: of the last two axes.
template <class T>
Status Det(const op::Det& op, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Shape& shape = input.shape();
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return InvalidArgument("an input of shape ", shape.ToString(),
                           ", wanted square matrices");
  }
  const int64_t n = shape[rank - 1];
  using W = Wide<T>;
  const Loaded<W> x(input);
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<W>(run, op.y, input.dtype(), SubShape(shape, 0, rank - 2)));
  for (int64_t i = 0; i < y.size(); ++i) {
    const W* from = x.data() + i * n * n;
    y[i] = Determinant(Scratch<W>(from, from + n * n), n);
  }
  return OkStatus();
}

// A onesided spectrum, whose other half are conjugates, as a whole one.
template <class T>
Scratch<T> Mirrored(const T* x, const Signal& from, int64_t length) {
  Scratch<T> whole(static_cast<size_t>(2 * length), T(0));
  for (int64_t k = 0; k < length; ++k) {
    const bool given = k < from.length && k <= length / 2;
    const int64_t at = given ? k : length - k;
    if (at >= from.length) continue;
    const T* value = x + at * from.step;
    whole[static_cast<size_t>(2 * k)] = value[0];
    if (from.parts == 2) {
      whole[static_cast<size_t>(2 * k + 1)] = given ? value[1] : -value[1];
    }
  }
  return whole;
}

struct DftPlan {
  static Result<DftPlan> Of(const op::DFT& op, const Shape& x,
                            const Scratch<int64_t>& axis,
                            const Scratch<int64_t>& wanted) {
    const int rank = x.rank();
    if (rank < 2 || (x[rank - 1] != 1 && x[rank - 1] != 2)) {
      return InvalidArgument("an input of shape ", x.ToString(),
                             ", wanted a last axis of 1 or 2");
    }
    if (axis.size() > 1 || wanted.size() > 1) {
      return InvalidArgument("axis has ", axis.size(), " and dft_length ",
                             wanted.size(), " elements, wanted scalars");
    }
    ASSAY_ASSIGN_OR_RETURN(const int k,
                           NormalizeAxis(axis.empty() ? -2 : axis[0], rank));
    if (k == rank - 1) {
      return InvalidArgument("axis ", k, " is that of the parts of a number");
    }
    const bool onesided = op.onesided != 0;
    const bool inverse = op.inverse != 0;
    // onesided: "only real input is supported", of the inverse "only complex".
    if (onesided && x[rank - 1] != (inverse ? 2 : 1)) {
      return InvalidArgument("an input of shape ", x.ToString(),
                             " with onesided ", op.onesided, " and inverse ",
                             op.inverse, ", wanted a last axis of ",
                             inverse ? 2 : 1);
    }
    const int64_t natural = onesided && inverse ? 2 * (x[k] - 1) : x[k];
    DftPlan plan;
    plan.length = wanted.empty() ? natural : wanted[0];
    if (plan.length < 1) {
      return InvalidArgument("dft_length is ", plan.length);
    }
    plan.y_shape = x;
    plan.y_shape[k] = onesided && !inverse ? plan.length / 2 + 1 : plan.length;
    plan.y_shape[rank - 1] = onesided && inverse ? 1 : 2;
    ASSAY_ASSIGN_OR_RETURN(plan.lines, AxisView::Of(x, k));
    const auto at = static_cast<size_t>(k);
    plan.from = {x[k], DenseStrides(x)[at], x[rank - 1]};
    plan.to = {plan.y_shape[k], DenseStrides(plan.y_shape)[at],
               plan.y_shape[rank - 1]};
    return plan;
  }
  Shape y_shape;
  AxisView lines;  // of x, its last axis being within `inner`
  Signal from;
  Signal to;
  int64_t length = 0;
};

// DFT-20.
template <class T>
Status Dft(const op::DFT& op, KernelContext& run) {
  const Tensor& input = run.input(op.input);
  ASSAY_ASSIGN_OR_RETURN(
      const auto plan,
      DftPlan::Of(op, input.shape(), IntegersOf(run.input(op.axis)),
                  IntegersOf(run.input(op.dft_length))));
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.output, input.dtype(), plan.y_shape));
  const Rotations<T> rotations(plan.length);
  const int64_t places = plan.lines.inner / plan.from.parts;
  for (int64_t line = 0; line < plan.lines.outer * places; ++line) {
    const int64_t block = line / places;
    const int64_t place = line % places;
    const T* from = x.data() + block * plan.from.length * plan.from.step +
                    place * plan.from.parts;
    T* to = y.data() + block * plan.to.length * plan.to.step +
            place * plan.to.parts;
    if (op.onesided != 0 && op.inverse != 0) {
      const Scratch<T> whole = Mirrored(from, plan.from, plan.length);
      rotations.Transform(whole.data(), Signal{plan.length, 2, 2}, to, plan.to,
                          true);
    } else {
      rotations.Transform(from, plan.from, to, plan.to, op.inverse != 0);
    }
  }
  return OkStatus();
}

}  // namespace

Family LinearAlgebraFamily() {
  return FamilyOf(Typed(kFloats, []<class T>() { return &Det<T>; }),
                  Typed(kFloats, []<class T>() { return &Dft<Wide<T>>; }));
}

}  // namespace assay::reference
