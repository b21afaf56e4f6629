// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "perf/roofs/vector_code.h"
#include "perf/roofs/vector_loops.h"

namespace assay::roofs {
namespace {

/// Sums of two products of bfloat16 each (VDPBF16PS).
void RunDots(int64_t rounds) {
  const __m512bh ones =
      Hidden(_mm512_cvtne2ps_pbh(_mm512_set1_ps(1.F), _mm512_set1_ps(1.F)));
  RunChains(rounds, _mm512_set1_ps(0.F),
            [ones](__m512 s) { return _mm512_dpbf16_ps(s, ones, ones); });
}

}  // namespace

const VectorCode& Avx512Bf16Code() {
  static constexpr VectorCode kCode = {
      .name = "avx512_bf16", .bfloat16 = {&RunDots, 2 * kChains * 32}};
  return kCode;
}

}  // namespace assay::roofs
