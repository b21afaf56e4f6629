// SPDX-License-Identifier: Apache-2.0
//
// Vectors of doubles, as wide as those of the instruction set that a source is
// compiled for, and the exact errors of a product and of a sum. Only for
// sources that are isolated (isolate.sh): others have other vectors of the same
// names.
//
//   const Vector total = Load(a) + Load(b);
//   Store(rest, RoundedOffSum(Load(a), Load(b), total));

#pragma once

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace assay::reference {

#if defined(__AVX512F__)
inline constexpr size_t kLanes = 8;
#elif defined(__AVX2__)
inline constexpr size_t kLanes = 4;
#else
inline constexpr size_t kLanes = 2;
#endif

using Vector [[gnu::vector_size(kLanes * sizeof(double))]] = double;
using Mask [[gnu::vector_size(kLanes * sizeof(int64_t))]] = int64_t;
using Bits [[gnu::vector_size(kLanes * sizeof(uint64_t))]] = uint64_t;
// In memory, where an element lies as its own type asks.
using Unaligned [[gnu::vector_size(kLanes * sizeof(double)),
                  gnu::aligned(alignof(double)), gnu::may_alias]] = double;

inline Vector Load(const double* from) {
  return *reinterpret_cast<const Unaligned*>(from);
}
inline void Store(double* to, Vector x) {
  *reinterpret_cast<Unaligned*>(to) = x;
}
inline Vector Abs(Vector x) {
  return std::bit_cast<Vector>(std::bit_cast<Mask>(x) & INT64_MAX);
}
inline Vector KeptWhere(Mask mask, Vector x) {
  return std::bit_cast<Vector>(mask & std::bit_cast<Mask>(x));
}

// The upper 26 bits, rounded: the rest has as many, and a sign.
inline Vector UpperHalf(Vector x) {
  const Bits rounded = std::bit_cast<Bits>(x) + (uint64_t{1} << 26);
  return std::bit_cast<Vector>(rounded & ~((uint64_t{1} << 27) - 1));
}

/// a b - product, exactly, where nothing overflows and what is rounded off is a
/// double: without FMA by Dekker (1971), A floating-point technique for
/// extending the available precision.
inline Vector RoundedOff(Vector a, Vector b, Vector product) {
#if defined(__AVX512F__)
  return _mm512_fmsub_pd(a, b, product);
#elif defined(__FMA__)
  return _mm256_fmsub_pd(a, b, product);
#else
  const Vector upper_a = UpperHalf(a);
  const Vector upper_b = UpperHalf(b);
  const Vector lower_a = a - upper_a;
  const Vector lower_b = b - upper_b;
  return ((upper_a * upper_b - product) + upper_a * lower_b +
          lower_a * upper_b) +
         lower_a * lower_b;
#endif
}

/// a + b - total, exactly: Knuth's TwoSum.
inline Vector RoundedOffSum(Vector a, Vector b, Vector total) {
  const Vector of_b = total - a;
  return (a - (total - of_b)) + (b - of_b);
}

}  // namespace assay::reference
