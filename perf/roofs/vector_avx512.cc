// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/vector_code.h"
#include "perf/roofs/vector_loops.h"

namespace assay::roofs {

const VectorCode& Avx512Code() {
  static constexpr VectorCode kCode = {.name = "avx512",
                                       .float32 = FusedChains<float>(),
                                       .float64 = FusedChains<double>(),
                                       .read = &ReadAll,
                                       .triad = &Triad};
  return kCode;
}

}  // namespace assay::roofs
