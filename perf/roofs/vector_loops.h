// SPDX-License-Identifier: Apache-2.0
//
// The loops of VectorCode, in vectors of the instruction set that the source
// that includes this is compiled for.
//
//   constexpr Chains kFloat32 = FusedChains<float>();
//
// Nothing here may be shared by two such sources: the linker would take the
// code of either, and a machine has but one of the sets. Hence the namespace
// without a name, and no header of the library that has functions.

#pragma once

#include <cstdint>

#include "perf/roofs/vector_code.h"

namespace assay::roofs {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif

template <class Number>
struct VectorOf {
  typedef Number Type __attribute__((vector_size(kVectorBytes)));
  static constexpr int64_t kLanes =
      kVectorBytes / static_cast<int64_t>(sizeof(Number));
};

/// The same value, of which the compiler knows nothing.
template <class V>
V Hidden(V value) {
  asm volatile("" : "+m"(value));
  return value;
}

/// Does each of them once.
template <class... V>
void Each(const V&...) {}

/// Twelve: more than the latency of a step times the units for it, four or five
/// times two, and less than the sixteen registers of the smaller sets.
template <class V, class Step>
inline void RunChains(int64_t rounds, V start, Step step) {
  V s0 = Hidden(start), s1 = Hidden(start), s2 = Hidden(start);
  V s3 = Hidden(start), s4 = Hidden(start), s5 = Hidden(start);
  V s6 = Hidden(start), s7 = Hidden(start), s8 = Hidden(start);
  V s9 = Hidden(start), s10 = Hidden(start), s11 = Hidden(start);
  for (int64_t i = 0; i < rounds; ++i) {
    s0 = step(s0), s1 = step(s1), s2 = step(s2), s3 = step(s3);
    s4 = step(s4), s5 = step(s5), s6 = step(s6), s7 = step(s7);
    s8 = step(s8), s9 = step(s9), s10 = step(s10), s11 = step(s11);
  }
  Each(Hidden(s0), Hidden(s1), Hidden(s2), Hidden(s3), Hidden(s4), Hidden(s5),
       Hidden(s6), Hidden(s7), Hidden(s8), Hidden(s9), Hidden(s10),
       Hidden(s11));
}
constexpr double kChains = 12;

/// s times 0.5 plus 1: every chain stays near 2, and no number is subnormal.
template <class Number>
void RunFused(int64_t rounds) {
  using V = typename VectorOf<Number>::Type;
  const V half = Hidden(V{} + Number{0.5});
  const V one = Hidden(V{} + Number{1});
  RunChains(rounds, one, [half, one](V s) { return s * half + one; });
}

template <class Number>
constexpr Chains FusedChains() {
  return {&RunFused<Number>,
          2 * kChains * static_cast<double>(VectorOf<Number>::kLanes)};
}

using Words = VectorOf<uint32_t>::Type;

inline Words Load(const float* from) {
  return *reinterpret_cast<const Words*>(from);
}

inline void ReadArray(const float* from, int64_t size, Words* any) {
  constexpr int64_t kLanes = VectorOf<uint32_t>::kLanes;
  Words all[4] = {};
  for (int64_t i = 0; i < size; i += 8 * kLanes) {
    all[0] |= Load(from + i) | Load(from + i + kLanes);
    all[1] |= Load(from + i + 2 * kLanes) | Load(from + i + 3 * kLanes);
    all[2] |= Load(from + i + 4 * kLanes) | Load(from + i + 5 * kLanes);
    all[3] |= Load(from + i + 6 * kLanes) | Load(from + i + 7 * kLanes);
  }
  *any |= all[0] | all[1] | all[2] | all[3];
}

[[maybe_unused]] void ReadAll(const Memory& memory, int64_t passes) {
  Words any = {};
  for (int64_t pass = 0; pass < passes; ++pass) {
    asm volatile("" ::: "memory");
    ReadArray(memory.a, memory.size, &any);
    ReadArray(memory.b, memory.size, &any);
    ReadArray(memory.c, memory.size, &any);
  }
  Each(Hidden(any));
}

[[maybe_unused]] void Triad(const Memory& memory, int64_t passes) {
  using V = VectorOf<float>::Type;
  constexpr int64_t kLanes = VectorOf<float>::kLanes;
  const V half = Hidden(V{} + 0.5F);
  for (int64_t pass = 0; pass < passes; ++pass) {
    asm volatile("" ::: "memory");
    for (int64_t i = 0; i < memory.size; i += 2 * kLanes) {
      for (int64_t j = i; j < i + 2 * kLanes; j += kLanes) {
        *reinterpret_cast<V*>(memory.a + j) =
            *reinterpret_cast<const V*>(memory.b + j) +
            half * *reinterpret_cast<const V*>(memory.c + j);
      }
    }
  }
}

}  // namespace
}  // namespace assay::roofs
