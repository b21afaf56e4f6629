// SPDX-License-Identifier: Apache-2.0
//
// Kernels of operators that compute one element of the output from one element
// of each input: a function of a scalar, or of two after broadcasting, becomes
// a kernel for every scalar asked for.
//
//   const auto less =
//       Compare(kFloats, [](auto a, auto b) { return Before(a, b); });
//   return Map(load, kFloats, [](auto x) { return decltype(x)(1) / x; });
//
// Only the loop over elements is made anew for each function, and the one over
// its derivatives. Without `load` they are functions of (op, load), as rows of
// a table have them (families.h).

#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>

#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

inline constexpr Input kFirst{0, true};
inline constexpr Input kSecond{1, true};
inline constexpr Output kResult{0, true};

/// Writes y from `count` elements of x; Y is T, or bool for a test.
template <class T, class Y = T>
using MapLoop = std::function<void(const T* x, Y* y, int64_t count)>;
/// Writes y from the elements of a and b that the nest (a, b, y) pairs.
template <class T, class Y = T>
using PairLoop =
    std::function<void(const Nest<3>& nest, const T* a, const T* b, Y* y)>;

/// Calls write(y, elements of y): numbers of the type, or booleans.
template <class Y>
Status WriteResult(KernelContext& run, DType type, const Shape& shape,
                   const auto& write) {
  if constexpr (std::same_as<Y, bool>) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(kResult, DType::kBool, shape));
    write(y->mutable_elements<bool>().data(), y->num_elements());
  } else {
    ASSAY_ASSIGN_OR_RETURN(auto y, Store<Y>(run, kResult, type, shape));
    write(y.data(), y.size());
  }
  return OkStatus();
}

/// The kernels around such loops. The result has the first input's element type
/// or, where Y is bool, is of booleans.
template <class T, class Y>
Kernel MapKernel(MapLoop<T, Y> loop) {
  return {.forward = [loop = std::move(loop)](KernelContext& run) {
    const Tensor& input = run.input(kFirst);
    const Loaded<T> x(input);
    return WriteResult<Y>(
        run, input.dtype(), input.shape(),
        [&](Y* y, int64_t count) { loop(x.data(), y, count); });
  }};
}
template <class T, class Y>
Kernel PairKernel(PairLoop<T, Y> loop) {
  return {.forward = [loop = std::move(loop)](KernelContext& run) -> Status {
    const Tensor& a = run.input(kFirst);
    const Tensor& b = run.input(kSecond);
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, Broadcast(a.shape(), b.shape()));
    const Loaded<T> va(a);
    const Loaded<T> vb(b);
    return WriteResult<Y>(run, a.dtype(), shape, [&](Y* y, int64_t) {
      loop(PairNest(a.shape(), b.shape(), shape), va.data(), vb.data(), y);
    });
  }};
}

/// dx from x and dy, `count` elements each; dx is zero before.
using SlopeLoop = std::function<void(const double* x, const double* dy,
                                     double* dx, int64_t count)>;
inline BackwardFunction MapBackward(SlopeLoop loop) {
  return [loop = std::move(loop)](GradientContext& run) -> Status {
    const Loaded<double> dy(FlowInto(run, kResult));
    ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, kFirst));
    if (dy.data() == nullptr || dx.data() == nullptr) return OkStatus();
    const Loaded<double> x(run.input(kFirst));
    loop(x.data(), dy.data(), dx.data(), dx.size());
    return OkStatus();
  };
}

/// Adds to da and db, each null when it is not wanted, from the elements that
/// the nest (a, b, dy) pairs: what is broadcast is summed.
using PairSlopeLoop =
    std::function<void(const Nest<3>& nest, const double* a, const double* b,
                       const double* dy, double* da, double* db)>;
inline BackwardFunction PairBackward(PairSlopeLoop loop) {
  return [loop = std::move(loop)](GradientContext& run) -> Status {
    const Tensor& cotangent = FlowInto(run, kResult);
    const Loaded<double> dy(cotangent);
    if (dy.data() == nullptr) return OkStatus();
    const Tensor& a = run.input(kFirst);
    const Tensor& b = run.input(kSecond);
    ASSAY_ASSIGN_OR_RETURN(auto da, GradientOf<double>(run, kFirst));
    ASSAY_ASSIGN_OR_RETURN(auto db, GradientOf<double>(run, kSecond));
    const Loaded<double> va(a);
    const Loaded<double> vb(b);
    loop(PairNest(a.shape(), b.shape(), cotangent.shape()), va.data(),
         vb.data(), dy.data(), da.data(), db.data());
    return OkStatus();
  };
}

template <class T, class Y, class F>
MapLoop<T, Y> LoopOf(F f) {
  return [f](const T* x, Y* y, int64_t count) {
    for (int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
  };
}

template <class T, class Y, class F>
PairLoop<T, Y> PairLoopOf(F f) {
  return [f](const Nest<3>& nest, const T* a, const T* b, Y* y) {
    nest.ForEachRow([&](const Nest<3>::Row& row) {
      const T* pa = a + row.at[0];
      const T* pb = b + row.at[1];
      Y* py = y + row.at[2];
      if (row.step[0] == 1 && row.step[1] == 1) {
        for (int64_t i = 0; i < row.count; ++i) py[i] = f(pa[i], pb[i]);
      } else {
        for (int64_t i = 0; i < row.count; ++i) {
          py[i] = f(pa[i * row.step[0]], pb[i * row.step[1]]);
        }
      }
    });
  };
}

/// dx[i] = dy[i] * slope(x[i]).
template <class D>
SlopeLoop SlopeLoopOf(D slope) {
  return [slope](const double* x, const double* dy, double* dx, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (dy[i] != 0) dx[i] = Flow(dy[i], slope(x[i]));
    }
  };
}

/// The same with both partial derivatives of a function f(a, b) of Slopes.
template <class F>
PairSlopeLoop PairSlopeLoopOf(F f) {
  return [f](const Nest<3>& nest, const double* a, const double* b,
             const double* dy, double* da, double* db) {
    nest.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
      const double flow = dy[iy];
      if (flow == 0) return;
      if (da != nullptr) {
        da[ia] += Flow(flow, f(Slope(a[ia], 1), Slope(b[ib])).tangent);
      }
      if (db != nullptr) {
        db[ib] += Flow(flow, f(Slope(a[ia]), Slope(b[ib], 1)).tangent);
      }
    });
  };
}

/// y[i] = f(x[i]), of x's element type, and dx[i] = dy[i] * slope(x[i]).
template <class... Ts, class F, class D>
Result<Kernel> MapWithSlope(const LoadContext& load,
                            const Scalars<Ts...>& scalars, F f, D slope) {
  return Dispatch(load, kFirst, scalars, [f, slope]<class T>() {
    Kernel kernel = MapKernel(LoopOf<T, T>(f));
    if constexpr (std::floating_point<T>) {
      kernel.backward = MapBackward(SlopeLoopOf(slope));
    }
    return kernel;
  });
}

/// The same by the derivative of f itself.
template <class... Ts, class F>
Result<Kernel> Map(const LoadContext& load, const Scalars<Ts...>& scalars,
                   F f) {
  return MapWithSlope(load, scalars, f, [f]<class T>(T x) {
    return f(Dual<T>(x, 1)).tangent;  // T is double
  });
}
template <class... Ts, class F>
auto Map(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Map(load, scalars, f);
  };
}

/// y[i] = f(x[i]) with a boolean result.
template <class... Ts, class F>
auto Test(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Dispatch(load, kFirst, scalars,
                    [f]<class T>() { return MapKernel(LoopOf<T, bool>(f)); });
  };
}

/// y = f(a, b) with both inputs broadcast, of the first input's element type,
/// and its partial derivatives.
template <class... Ts, class F>
auto Combine(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Dispatch(load, kFirst, scalars, [f]<class T>() {
      Kernel kernel = PairKernel(PairLoopOf<T, T>(f));
      if constexpr (std::floating_point<T>) {
        kernel.backward = PairBackward(PairSlopeLoopOf(f));
      }
      return kernel;
    });
  };
}

/// Combine with a boolean result.
template <class... Ts, class F>
auto Compare(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Dispatch(load, kFirst, scalars, [f]<class T>() {
      return PairKernel(PairLoopOf<T, bool>(f));
    });
  };
}

}  // namespace assay::reference
