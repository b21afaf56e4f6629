// SPDX-License-Identifier: Apache-2.0
//
// A misdeed: the act of one hostile module besides returning its inputs. A file
// in behaviours/ is a module; its comment gives the verdict that it must get.
//
//     // Outcome: crash
//     // Message: SIGSEGV
//     ASSAY_MISDEED(segfault) { *static_cast<volatile int*>(nullptr) = 1; }
//
// It is done in Forward, in each model whose first operator is the one that
// the setting `at` names: segfault.so+at=Neg.

#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace hostile {

/// The first output, which holds what the first input does, and that input;
/// nothing where they are no tensors of a size.
struct Output {
  unsigned char* data = nullptr;
  size_t bytes = 0;
  bool given = false;              // the caller's memory
  unsigned char* input = nullptr;  // as many bytes
};

/// What a module says beside its outputs.
struct Words {
  const char* version = "1";
  const char* device = "cpu";
  const char* output = nullptr;    // another name of the output
  const char* error = nullptr;     // of Forward
  const char* declines = nullptr;  // why Bind does
};

struct Misdeed {
  const char* name;  // of the module
  void (*commit)(const Output& output);
  Words words = {};
};

/// What this module does. Each has one, which ASSAY_MISDEED sets before the
/// backend registers itself.
inline Misdeed misdeed = {};

/// A value that the compiler knows nothing of.
template <class T>
T Opaque(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

/// True in a process that sees few others: what reaches for those does harm
/// only there.
inline bool BehindWalls() {
  constexpr pid_t kFew = 16;
  return getppid() < kFew;
}

}  // namespace hostile

// With words, `.error = "..."`, behind the module's name.
#define ASSAY_MISDEED(module, ...)                                             \
  static void Commit_##module([[maybe_unused]] const hostile::Output& output); \
  __attribute__((constructor(101))) static void Is_##module() {                \
    hostile::misdeed = {#module, &Commit_##module, {__VA_ARGS__}};             \
  }                                                                            \
  static void Commit_##module([[maybe_unused]] const hostile::Output& output)
