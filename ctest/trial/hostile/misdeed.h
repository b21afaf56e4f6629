// SPDX-License-Identifier: Apache-2.0
//
// Misdeed: the act of a hostile behaviour besides returning its inputs. A file
// in behaviours/ is a module of many behaviours, one of which the setting `act`
// chooses; its comment gives the verdict that it must get.
//
//     // Outcome: crash
//     // Message: SIGSEGV
//     ASSAY_MISDEED(segfault) { *static_cast<volatile int*>(nullptr) = 1; }
//
// It is done in Forward, in each model whose first operator is the one that
// the setting `at` names: crash.so+act=segfault+at=Neg. A module that has the
// name of a behaviour does that one, and needs no `act`.

#pragma once

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace hostile {

/// The first output, which holds what the first input does, and that input;
/// nothing where they are no tensors of a size.
struct Output {
  unsigned char* data = nullptr;
  size_t bytes = 0;
  bool given = false;              // the caller's memory
  unsigned char* input = nullptr;  // as many bytes
};

/// The words of a module beside its outputs. Its version and device are asked
/// for before any setting is known: a module of the behaviour's name says them.
struct Words {
  const char* version = "1";
  const char* device = "cpu";
  const char* output = nullptr;    // another name of the output
  const char* error = nullptr;     // of Forward
  const char* declines = nullptr;  // why Bind does
};

struct Misdeed {
  const char* name;
  void (*commit)(const Output& output);
  Words words = {};
};

/// The misdeeds of this module. ASSAY_MISDEED adds one before the backend
/// registers itself.
inline std::vector<Misdeed>& Misdeeds() {
  static std::vector<Misdeed>& misdeeds = *new std::vector<Misdeed>;
  return misdeeds;
}

/// The file that this is part of.
inline std::filesystem::path ModuleFile() {
  static const int kHere = 0;
  Dl_info info = {};
  dladdr(&kHere, &info);
  return info.dli_fname;
}

/// The name of the file, which its backend must have.
inline const std::string& NameOfModule() {
  static const std::string& name =
      *new std::string(ModuleFile().stem().string());
  return name;
}

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

// With words, `.error = "..."`, behind the behaviour's name.
#define ASSAY_MISDEED(behaviour, ...)                                \
  static void Commit_##behaviour(                                    \
      [[maybe_unused]] const hostile::Output& output);               \
  __attribute__((constructor(101))) static void Adds_##behaviour() { \
    hostile::Misdeeds().push_back(                                   \
        {#behaviour, &Commit_##behaviour, {__VA_ARGS__}});           \
  }                                                                  \
  static void Commit_##behaviour([[maybe_unused]] const hostile::Output& output)
