// SPDX-License-Identifier: Apache-2.0
//
// SimdLoops: the loops where time goes, compiled once for each instruction set
// from one source (simd_loops.cc) and chosen at Load: the best that the
// processor has, or what the setting `isa` names.
//
// There are loops over float and double only; another scalar takes the plain
// loop of the same kernel, which is what the null pointer stands for. The
// objects are isolated: none of their code can be linked in for another's, so
// that no instruction is met that the processor lacks (simd_test.sh).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/loop/product.h"
#include "backends/reference/loop/window.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

/// Instruction sets, each with all that stand before it.
enum class Isa : uint8_t {
  kSse2,    // what every x86-64 processor has
  kAvx2,    // with FMA
  kAvx512,  // F, DQ, BW and VL
};

template <class T>
struct SimdLoops {
  /// y += scale * a * b. Wants y.column == 1, and of a and of b one stride
  /// that is 1. Sums in another order than the plain loop, with FMA where the
  /// instruction set has it: results differ between instruction sets.
  void (*multiply)(const Product& product, const T* a, const T* b, T* y);

  /// y[o] += w[tap] * x[i] for every tap of every window of one channel, in
  /// the order of the taps; w is null for all ones. Each product and each sum
  /// is rounded: the same in every instruction set.
  void (*add_taps)(const WindowAxes& axes, const T* x, const T* w, T* y);

  /// y[o] = Max(y[o], x[i]) likewise.
  void (*max_taps)(const WindowAxes& axes, const T* x, T* y);
};

/// "sse2", "avx2" or "avx512"; invalid argument for another word.
Result<Isa> ParseIsa(std::string_view name);
std::string_view NameOf(Isa isa);

/// True when processor and system run it; those that they run, the least
/// first; the greatest of these.
bool IsAvailable(Isa isa);
std::vector<Isa> AvailableIsas();
Isa BestIsa();
/// The names of those that it runs up to `most`, the least first.
std::vector<std::string> NamesUpTo(Isa most);

/// The set that `isa` names, else the best. Invalid argument for a word
/// that is none, unavailable for one that this processor does not run.
Result<Isa> IsaOf(const LoadOptions& options);

/// The entries of the isolated objects of one source, each the only symbol that
/// its object shows.
template <class Loops>
struct IsaEntries {
  using Entry = const Loops* (*)();

  /// Enters one object alone, whose instruction set must be available.
  const Loops& LoopsFor(Isa isa) const {
    switch (isa) {
      case Isa::kAvx512:
        return *avx512();
      case Isa::kAvx2:
        return *avx2();
      case Isa::kSse2:
        break;
    }
    return *sse2();
  }

  Entry sse2;
  Entry avx2;
  Entry avx512;
};

/// The loops for one instruction set; null for a scalar that has none.
template <class T>
const SimdLoops<T>* LoopsFor(Isa isa) {
  static_cast<void>(isa);
  return nullptr;
}
template <>
const SimdLoops<float>* LoopsFor(Isa isa);
template <>
const SimdLoops<double>* LoopsFor(Isa isa);

/// Those of the node that is loaded; its options have been checked.
template <class T>
const SimdLoops<T>* LoopsOf(const LoadContext& load) {
  const Result<Isa> isa = IsaOf(load.options());
  return LoopsFor<T>(isa.ok() ? *isa : Isa::kSse2);
}

/// The loops that simd_loops.cc makes for each instruction set.
struct SimdTable {
  SimdLoops<float> of_float;
  SimdLoops<double> of_double;
};

}  // namespace assay::reference
