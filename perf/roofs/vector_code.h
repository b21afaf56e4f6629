// SPDX-License-Identifier: Apache-2.0
//
// VectorCode: loops that do nothing but arithmetic, or nothing but read and
// write memory, in the vectors of one instruction set. No code of that set does
// more operations or moves more bytes in a second, so that their rates are
// roofs.
//
//   for (const VectorCode* code : CodesHere()) {
//     if (code->float32.run != nullptr) code->float32.run(1'000'000);
//   }
//
// Each set is a source of its own with the compiler's switches for it
// (CMakeLists.txt); the machine decides while it runs which of them it has.
// There is none of matrix tiles (AMX, SME): a backend that uses them is above
// every roof here.

#pragma once

#include <cstdint>
#include <vector>

namespace assay::roofs {

/// Arithmetic in registers: chains of a product that is added, so many that no
/// unit waits for the result of a step.
struct Chains {
  void (*run)(int64_t rounds) = nullptr;  // null: the set has none of the type
  double operations = 0;                  // of a round; a product and a sum: 2
};

/// Three arrays of `size` numbers, a multiple of kSizeStep, aligned to 64
/// bytes.
struct Memory {
  float* a = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  int64_t size = 0;
};

inline constexpr int64_t kSizeStep = 128;

struct VectorCode {
  const char* name = "";
  Chains float32, float64, bfloat16, int8;
  /// Reads all three arrays, so often. Null: the set has no passes of its own.
  void (*read)(const Memory& memory, int64_t passes) = nullptr;
  /// Writes b + 0.5 c into a, so often (J. McCalpin's STREAM).
  void (*triad)(const Memory& memory, int64_t passes) = nullptr;
};

/// Those that this machine runs, but for PlainCode, which every machine runs,
/// where there is another. Two may have loops for the same: either may be the
/// faster one.
std::vector<const VectorCode*> CodesHere();

// For CodesHere alone, which asks the machine first.
const VectorCode& PlainCode();
const VectorCode& FmaCode();
const VectorCode& Avx512Code();
const VectorCode& Avx512VnniCode();
const VectorCode& Avx512Bf16Code();

}  // namespace assay::roofs
