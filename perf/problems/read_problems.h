// SPDX-License-Identifier: Apache-2.0
//
// Reads files of problems. A line that ends its first word with ':' names a
// kind and its columns, and a row below it has a word for each:
//
//     # the source of these facts
//     gemm: set times m n k a b
//     deepbench.train 1 1760 16 1760 n t
//
// `#` begins a comment. The README of the folder has all kinds.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "perf/problems/problem.h"

namespace assay::problems {

/// The problems of a file, in its order. Not found for a file that cannot be
/// read; invalid argument for a wrong one: "gemm.txt:12: m is '0', wanted a
/// positive integer".
Result<std::vector<Problem>> ReadProblems(const std::filesystem::path& file);

/// The same of a text; `file` is for messages.
Result<std::vector<Problem>> ProblemsOfText(std::string_view text,
                                            const std::string& file);

/// Those of every .txt of a folder, by name. Not found where there is none.
Result<std::vector<Problem>> ReadProblemSets(
    const std::filesystem::path& folder);

}  // namespace assay::problems
