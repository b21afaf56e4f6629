// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: memory ran out
// Memory: 0.5

#include <cstring>
#include <memory>
#include <vector>

#include "ctest/trial/hostile/misdeed.h"

ASSAY_MISDEED(memory_runaway) {
  std::vector<std::unique_ptr<char[]>> kept;
  constexpr size_t kPiece = 1 << 20;
  while (hostile::Opaque(1) == 1) {
    kept.push_back(std::make_unique<char[]>(kPiece));
    std::memset(kept.back().get(), 1, kPiece);
  }
}
