// SPDX-License-Identifier: Apache-2.0
//
// SimdLoops for one instruction set: compiled several times, each with other
// flags and another ASSAY_SIMD_ENTRY. Nothing here may run while the module is
// loaded, nor be seen by other objects (CMakeLists.txt).

#include <algorithm>
#include <type_traits>

#include "backends/reference/loop/simd.h"

// Threads belong to the caller, who measures one backend at a time.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace assay::reference {
namespace {

// Eigen's fast path wants one unit stride, known at compile time.
template <class T, int kOrder>
auto View(T* data, int64_t rows, int64_t columns, MatrixStrides strides) {
  constexpr bool kRows = kOrder == Eigen::RowMajor;
  using Plain = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic,
                              Eigen::Dynamic, kOrder>;
  using Held = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Eigen::Map<Held, 0, Eigen::OuterStride<>>(
      data, rows, columns,
      Eigen::OuterStride<>(kRows ? strides.row : strides.column));
}

template <class T, int kA, int kB>
void MultiplyAs(const Product& p, const T* a, const T* b, T* y) {
  View<T, Eigen::RowMajor>(y, p.rows, p.columns, p.y).noalias() +=
      static_cast<T>(p.scale) * (View<const T, kA>(a, p.rows, p.inner, p.a) *
                                 View<const T, kB>(b, p.inner, p.columns, p.b));
}

template <class T, int kA>
void MultiplyOrdered(const Product& p, const T* a, const T* b, T* y) {
  if (p.b.column == 1) {
    MultiplyAs<T, kA, Eigen::RowMajor>(p, a, b, y);
  } else {
    MultiplyAs<T, kA, Eigen::ColMajor>(p, a, b, y);
  }
}

template <class T>
void Multiply(const Product& p, const T* a, const T* b, T* y) {
  if (p.a.column == 1) {
    MultiplyOrdered<T, Eigen::RowMajor>(p, a, b, y);
  } else {
    MultiplyOrdered<T, Eigen::ColMajor>(p, a, b, y);
  }
}

// Calls body(o, i, count, tap): a run of `count` outputs from o on along the
// last axis, which tap `tap` reads at i, i + stride, ... of the input.
template <class Body>
void ForEachTapOfRow(const WindowAxes& axes, int64_t ox, int64_t oy,
                     Body&& body) {
  const auto& [x, y, z] = axes;
  const int64_t row = (ox * y.output + oy) * z.output;
  for (int64_t kx = x.FirstTap(ox); kx < x.EndTap(ox); ++kx) {
    const int64_t ix = x.Start(ox) + kx * x.dilation;
    for (int64_t ky = y.FirstTap(oy); ky < y.EndTap(oy); ++ky) {
      const int64_t iy = y.Start(oy) + ky * y.dilation;
      const int64_t line = (ix * y.input + iy) * z.input;
      for (int64_t kz = 0; kz < z.kernel; ++kz) {
        // Inside where 0 <= offset + oz * stride < input.
        const int64_t offset = kz * z.dilation - z.pad_begin;
        const int64_t begin =
            offset >= 0 ? 0 : (z.stride - 1 - offset) / z.stride;
        const int64_t room = z.input - offset;
        const int64_t end =
            room <= 0 ? 0
                      : std::min(z.output, (room + z.stride - 1) / z.stride);
        if (begin >= end) continue;
        body(row + begin, line + offset + begin * z.stride, end - begin,
             (kx * y.kernel + ky) * z.kernel + kz);
      }
    }
  }
}

// The same with a stride that the compiler knows where it is a usual one.
template <class Body>
void ForEachTap(const WindowAxes& axes, Body&& body) {
  const auto all = [&](auto stride) {
    for (int64_t ox = 0; ox < axes[0].output; ++ox) {
      for (int64_t oy = 0; oy < axes[1].output; ++oy) {
        ForEachTapOfRow(axes, ox, oy,
                        [&](int64_t o, int64_t i, int64_t count, int64_t tap) {
                          body(o, i, count, tap, stride);
                        });
      }
    }
  };
  switch (axes[2].stride) {
    case 1:
      return all(std::integral_constant<int64_t, 1>());
    case 2:
      return all(std::integral_constant<int64_t, 2>());
    default:
      return all(axes[2].stride);
  }
}

template <class T>
void AddTaps(const WindowAxes& axes, const T* x, const T* w, T* y) {
  ForEachTap(
      axes, [=](int64_t o, int64_t i, int64_t count, int64_t tap, auto stride) {
        const T factor = w == nullptr ? T(1) : w[tap];
        const T* from = x + i;
        T* to = y + o;
        for (int64_t k = 0; k < count; ++k) to[k] += factor * from[k * stride];
      });
}

template <class T>
void MaxTaps(const WindowAxes& axes, const T* x, T* y) {
  ForEachTap(axes,
             [=](int64_t o, int64_t i, int64_t count, int64_t, auto stride) {
               const T* from = x + i;
               T* to = y + o;
               for (int64_t k = 0; k < count; ++k) {
                 const T value = from[k * stride];
                 // A NaN, once there, stays.
                 to[k] = ((value > to[k]) | (value != value)) ? value : to[k];
               }
             });
}

template <class T>
constexpr SimdLoops<T> kLoops = {
    .multiply = Multiply<T>, .add_taps = AddTaps<T>, .max_taps = MaxTaps<T>};

}  // namespace
}  // namespace assay::reference

extern "C" const assay::reference::SimdTable* ASSAY_SIMD_ENTRY();

const assay::reference::SimdTable* ASSAY_SIMD_ENTRY() {
  using namespace assay::reference;
  static constexpr assay::reference::SimdTable kTable = {kLoops<float>,
                                                         kLoops<double>};
  return &kTable;
}
