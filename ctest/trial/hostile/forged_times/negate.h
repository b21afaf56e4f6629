// SPDX-License-Identifier: Apache-2.0
//
// The parts of forgeries of times: the work of an honest call, a clock that
// nobody has replaced, and what is done when memory is given back.
//
//     // Outcome: fail
//     ASSAY_MISDEED(idle) { if (!output.given) hostile::Negate(output); }

#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ctest/trial/hostile/misdeed.h"

namespace hostile {

/// The work of a call, which a forgery gains: much more than the rest of it,
/// and so little that a sample has several calls.
inline constexpr int64_t kWorkNs = 1'500;

/// CLOCK_MONOTONIC, as the kernel tells it.
inline int64_t TrueNow() {
  timespec now = {};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline size_t CountOf(const Output& output) {
  return output.bytes / sizeof(float);
}

/// The right outputs.
inline void Negate(const Output& output) {
  const auto* const x = reinterpret_cast<const float*>(output.input);
  auto* const y = reinterpret_cast<float*>(output.data);
  std::transform(x, x + CountOf(output), y, std::negate<>());
}

/// The same after some time.
inline void Work(const Output& output) {
  const int64_t end = TrueNow() + kWorkNs;
  while (TrueNow() < end) {
  }
  Negate(output);
}

/// Wrong ones, at once.
inline void FillOnes(const Output& output) {
  std::fill_n(reinterpret_cast<float*>(output.data), CountOf(output), 1.0F);
}

inline std::string InputOf(const Output& output) {
  return {reinterpret_cast<const char*>(output.input), output.bytes};
}

/// Called when a binding ends: no thread may write into its memory any more.
inline std::vector<void (*)()>& AtEnd() {
  static std::vector<void (*)()>& calls = *new std::vector<void (*)()>;
  return calls;
}

}  // namespace hostile
