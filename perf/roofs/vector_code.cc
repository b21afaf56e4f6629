// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/vector_code.h"

namespace assay::roofs {

std::vector<const VectorCode*> CodesHere() {
  std::vector<const VectorCode*> codes;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    codes.push_back(&FmaCode());
  }
  if (__builtin_cpu_supports("avx512f")) {
    codes.push_back(&Avx512Code());
    if (__builtin_cpu_supports("avx512vnni")) {
      codes.push_back(&Avx512VnniCode());
    }
    if (__builtin_cpu_supports("avx512bf16")) {
      codes.push_back(&Avx512Bf16Code());
    }
  }
#endif
  if (codes.empty()) codes.push_back(&PlainCode());
  return codes;
}

}  // namespace assay::roofs
