// SPDX-License-Identifier: Apache-2.0
//
// A problem as its row states it, for tests.
//
//   const Problem problem =
//       FirstOf("gemm: set times m n k a b\na 1 2 3 4 n n");

#pragma once

#include <string>

#include "framework/testing/support/statuses_fixture.h"
#include "perf/problems/problem.h"
#include "perf/problems/read_problems.h"

namespace assay::problems {

/// The first problem of a text. Throws where it has none.
inline Problem FirstOf(const std::string& text) {
  return Got(ProblemsOfText(text, "f")).at(0);
}

}  // namespace assay::problems
