// SPDX-License-Identifier: Apache-2.0
//
// Kernels of operators that compute one element of the output from one element
// of each input: a function of a scalar, or of two after broadcasting, becomes
// a kernel for every scalar asked for.
//
//   return Map(load, kFloats, [](auto x) { return decltype(x)(1) / x; });
//   return Compare(load, kNumbers, [](auto a, auto b) { return Before(a, b); });
//
// Only the loop over elements is made anew for each function. Without `load`
// the same are rows of a table (family.h).

#pragma once

#include <cstdint>
#include <functional>

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

/// The kernels around such loops, made for all four scalars. The result has
/// the first input's element type, or is of booleans.
template <class T>
Kernel MapKernel(MapLoop<T> loop);
template <class T>
Kernel TestKernel(MapLoop<T, bool> loop);
template <class T>
Kernel PairKernel(PairLoop<T> loop);
template <class T>
Kernel CompareKernel(PairLoop<T, bool> loop);

/// dx from x and dy, `count` elements each; dx is zero before.
template <class T>
using DerivativeLoop =
    std::function<void(const T* x, const T* dy, T* dx, int64_t count)>;
template <class T>
std::function<Status(GradientContext&)> MapBackward(DerivativeLoop<T> loop);

/// Adds to da and db, each null when it is not wanted, from the elements that
/// the nest (a, b, dy) pairs: what is broadcast is summed.
template <class T>
using PairDerivativeLoop = std::function<void(
    const Nest<3>& nest, const T* a, const T* b, const T* dy, T* da, T* db)>;
template <class T>
std::function<Status(GradientContext&)> PairBackward(
    PairDerivativeLoop<T> loop);

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

/// y[i] = f(x[i]), of x's element type.
template <class... Ts, class F>
Result<Kernel> Map(const LoadContext& load, const Scalars<Ts...>& scalars,
                   F f) {
  return Dispatch(load, kFirst, scalars,
                  [f]<class T>() { return MapKernel<T>(LoopOf<T, T>(f)); });
}
template <class... Ts, class F>
auto Map(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Map(load, scalars, f);
  };
}

/// y[i] = f(x[i]) with a boolean result.
template <class... Ts, class F>
Result<Kernel> Test(const LoadContext& load, const Scalars<Ts...>& scalars,
                    F f) {
  return Dispatch(load, kFirst, scalars,
                  [f]<class T>() { return TestKernel<T>(LoopOf<T, bool>(f)); });
}
template <class... Ts, class F>
auto Test(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Test(load, scalars, f);
  };
}

/// Map with the derivative: dx[i] = dy[i] * derivative(x[i]). A zero cotangent
/// counts as nothing, also against an infinite derivative.
template <class... Ts, class F, class D>
Result<Kernel> MapWithDerivative(const LoadContext& load,
                                 const Scalars<Ts...>& scalars, F f,
                                 D derivative) {
  return Dispatch(load, kFirst, scalars, [&]<class T>() {
    Kernel kernel = MapKernel<T>(LoopOf<T, T>(f));
    if constexpr (!std::floating_point<T>) return kernel;
    kernel.backward = MapBackward<T>(
        [derivative](const T* x, const T* dy, T* dx, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            if (Value(dy[i]) != 0) dx[i] = dy[i] * derivative(x[i]);
          }
        });
    return kernel;
  });
}

/// y = f(a, b) with both inputs broadcast, of the first input's element type.
template <class... Ts, class F>
Result<Kernel> Combine(const LoadContext& load, const Scalars<Ts...>& scalars,
                       F f) {
  return Dispatch(load, kFirst, scalars, [f]<class T>() {
    return PairKernel<T>(PairLoopOf<T, T>(f));
  });
}
template <class... Ts, class F>
auto Combine(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Combine(load, scalars, f);
  };
}

/// Combine with the partial derivatives after a and after b: Function has
/// static members Of(a, b), AfterA(a, b) and AfterB(a, b).
template <class Function, class... Ts>
Result<Kernel> CombineWithPartials(const LoadContext& load,
                                   const Scalars<Ts...>& scalars) {
  return Dispatch(load, kFirst, scalars, []<class T>() {
    Kernel kernel = PairKernel<T>(
        PairLoopOf<T, T>([](T a, T b) { return Function::Of(a, b); }));
    if constexpr (!std::floating_point<T>) return kernel;
    kernel.backward =
        PairBackward<T>([](const Nest<3>& nest, const T* a, const T* b,
                           const T* dy, T* da, T* db) {
          nest.ForEachRow([&](const Nest<3>::Row& row) {
            for (int64_t i = 0; i < row.count; ++i) {
              const int64_t ia = row.at[0] + i * row.step[0];
              const int64_t ib = row.at[1] + i * row.step[1];
              const T flow = dy[row.at[2] + i * row.step[2]];
              if (Value(flow) == 0) continue;
              if (da != nullptr)
                da[ia] += flow * Function::AfterA(a[ia], b[ib]);
              if (db != nullptr)
                db[ib] += flow * Function::AfterB(a[ia], b[ib]);
            }
          });
        });
    return kernel;
  });
}
template <class Function, class... Ts>
auto CombineWithPartials(const Scalars<Ts...>& scalars) {
  return [=](const auto&, const LoadContext& load) {
    return CombineWithPartials<Function>(load, scalars);
  };
}

/// Combine with a boolean result.
template <class... Ts, class F>
Result<Kernel> Compare(const LoadContext& load, const Scalars<Ts...>& scalars,
                       F f) {
  return Dispatch(load, kFirst, scalars, [f]<class T>() {
    return CompareKernel<T>(PairLoopOf<T, bool>(f));
  });
}
template <class... Ts, class F>
auto Compare(const Scalars<Ts...>& scalars, F f) {
  return [=](const auto&, const LoadContext& load) {
    return Compare(load, scalars, f);
  };
}

}  // namespace assay::reference
