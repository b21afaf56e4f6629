// SPDX-License-Identifier: Apache-2.0
//
// Reads texts of problems. A line that ends its first word with ':' names a
// kind and its columns, and a row below it has a word for each:
//
//     # the source of these facts
//     gemm: set times m n k a b
//     deepbench.train 1 1760 16 1760 n t
//
// `#` begins a comment. The README of the folder has all kinds. Behind a line
// "each: batch 1 2 4", a row with $N in it stands for three problems, which
// differ in that number: SET.KIND#batch1, SET.KIND#batch2, SET.KIND#batch4.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "perf/problems/problem.h"

namespace assay::problems {

/// The problems of a text, in its order; `file` is for messages. Invalid
/// argument for a wrong one: "gemm.txt:12: m is '0', wanted a positive
/// integer".
Result<std::vector<Problem>> ProblemsOfText(std::string_view text,
                                            const std::string& file);

}  // namespace assay::problems
