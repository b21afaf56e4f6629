// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/random/toy/toy.h"

namespace assay_toy {

int Sum(int a, int b) { return a + b; }

}  // namespace assay_toy
