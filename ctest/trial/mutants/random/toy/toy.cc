// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/random/toy/toy.h"

namespace assay_toy {

int Least(int a, int b) {
  if (a < b) return a;
  return b;
}

int Greatest(int a, int b) { return a > b ? a : b; }

int64_t StepsToZero(int64_t n) {
  int64_t steps = 0;
  while (n > 0) {
    --n;
    ++steps;
  }
  return steps;
}

int Twice(int a) { return Sum(a, a); }

}  // namespace assay_toy
