// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/simd.h"

#include <array>
#include <string>

#include "framework/backend/backend.h"

extern "C" {
const assay::reference::SimdTable* assay_reference_simd_sse2();
const assay::reference::SimdTable* assay_reference_simd_avx2();
const assay::reference::SimdTable* assay_reference_simd_avx512();
}

namespace assay::reference {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"sse2", "avx2", "avx512"};

constexpr IsaEntries<SimdTable> kEntries = {
    .sse2 = assay_reference_simd_sse2,
    .avx2 = assay_reference_simd_avx2,
    .avx512 = assay_reference_simd_avx512};

}  // namespace

std::string_view NameOf(Isa isa) { return kNames.at(static_cast<size_t>(isa)); }

Result<Isa> ParseIsa(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return static_cast<Isa>(i);
  }
  return InvalidArgument("setting 'isa' is '", name,
                         "', wanted sse2, avx2 or avx512");
}

// The compiler's builtin asks the system as well, which must save registers.
bool IsAvailable(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return IsAvailable(Isa::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl");
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::kSse2:
      break;
  }
  return true;
}

std::vector<Isa> AvailableIsas() {
  std::vector<Isa> isas;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (IsAvailable(static_cast<Isa>(i))) isas.push_back(static_cast<Isa>(i));
  }
  return isas;
}

std::vector<std::string> NamesUpTo(Isa most) {
  std::vector<std::string> names;
  for (const Isa isa : AvailableIsas()) {
    if (isa <= most) names.emplace_back(NameOf(isa));
  }
  return names;
}

Isa BestIsa() {
  static const Isa best = AvailableIsas().back();
  return best;
}

Result<Isa> IsaOf(const LoadOptions& options) {
  const auto setting = options.settings.find("isa");
  if (setting == options.settings.end()) return BestIsa();
  ASSAY_ASSIGN_OR_RETURN(const Isa isa, ParseIsa(setting->second));
  if (!IsAvailable(isa)) {
    return Unavailable("setting 'isa' is '", setting->second,
                       "', this processor runs ", NameOf(BestIsa()),
                       " at most");
  }
  return isa;
}

template <>
const SimdLoops<float>* LoopsFor(Isa isa) {
  return &kEntries.LoopsFor(isa).of_float;
}
template <>
const SimdLoops<double>* LoopsFor(Isa isa) {
  return &kEntries.LoopsFor(isa).of_double;
}

}  // namespace assay::reference
