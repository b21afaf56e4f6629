// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/vector_code.h"
#include "perf/roofs/vector_loops.h"

namespace assay::roofs {

const VectorCode& PlainCode() {
  static constexpr VectorCode kCode = {.name = "plain",
                                       .float32 = FusedChains<float>(),
                                       .float64 = FusedChains<double>(),
                                       .read = &ReadAll,
                                       .triad = &Triad};
  return kCode;
}

}  // namespace assay::roofs
