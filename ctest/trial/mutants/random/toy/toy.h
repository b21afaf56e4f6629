// SPDX-License-Identifier: Apache-2.0
//
// Functions for the test of the tool, in a shared library: toy_test looks at
// all but what Greatest returns.

#pragma once

#include <cstdint>

namespace assay_toy {

int Least(int a, int b);
int Greatest(int a, int b);
int64_t StepsToZero(int64_t n);
int Twice(int a);
/// No program sees it, as most of a shared library of ours.
[[gnu::visibility("hidden")]] int Sum(int a, int b);

}  // namespace assay_toy
