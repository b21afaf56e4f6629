// SPDX-License-Identifier: Apache-2.0
//
// Functions for the test of the tool: toy_test looks at what two of them
// return and not at the third.

#pragma once

#include <cstdint>

namespace assay_toy {

int Least(int a, int b);
int Greatest(int a, int b);
int64_t StepsToZero(int64_t n);

}  // namespace assay_toy
