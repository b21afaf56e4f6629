// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "perf/roofs/vector_code.h"
#include "perf/roofs/vector_loops.h"

namespace assay::roofs {
namespace {

/// Sums of four products of bytes each (VPDPBUSD).
void RunDots(int64_t rounds) {
  const __m512i ones = Hidden(_mm512_set1_epi8(1));
  RunChains(rounds, ones,
            [ones](__m512i s) { return _mm512_dpbusd_epi32(s, ones, ones); });
}

}  // namespace

const VectorCode& Avx512VnniCode() {
  static constexpr VectorCode kCode = {.name = "avx512_vnni",
                                       .int8 = {&RunDots, 2 * kChains * 64}};
  return kCode;
}

}  // namespace assay::roofs
