// SPDX-License-Identifier: Apache-2.0
//
// What turned a run red, for a terminal: grouped by why, the most frequent first,
// with one command that repeats one of each group.
//
//   std::cout << UnexpectedText(verdicts);

#pragma once

#include <string>

#include "framework/testing/verdict/verdict.h"

namespace assay::run {

/// Empty where nothing is unexpected. Two results are of a group when backend,
/// outcome and reason are the same, apart from numbers and paths in the reason.
std::string UnexpectedText(const verdict::Verdicts& verdicts);

/// Why backends are unavailable, a line each; empty where none is.
std::string UnavailableText(const verdict::Verdicts& verdicts);

}  // namespace assay::run
