// SPDX-License-Identifier: Apache-2.0
//
// The problems of the folder sets, which are part of the program: no file is
// read.
//
//   const Problem* const problem =
//       ProblemNamed("deepbench.train.gemm.m1760n16k1760nn");

#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "perf/problems/problem.h"

namespace assay::problems {

/// The name and the text of each file. The build makes this of the folder.
std::vector<std::pair<const char*, const char*>> SetTexts();

/// All, by file, in their order. Throws where a set is wrong.
const std::vector<Problem>& KnownProblems();

/// Null for a name that none has.
const Problem* ProblemNamed(std::string_view name);

}  // namespace assay::problems
