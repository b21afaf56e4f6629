// SPDX-License-Identifier: Apache-2.0
//
// What turned a run red, for a terminal and for a summary: grouped by why, the
// most frequent first, with one command that repeats one of each group. A
// module that cannot be loaded fails every case, and is said once.
//
//   std::cout << UnexpectedText(verdicts, select::ColoursOf(STDOUT_FILENO));

#pragma once

#include <string>

#include "framework/cli/select/colour.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::run {

/// Empty where nothing is unexpected. Two results are of a group when backend,
/// outcome and reason are the same, apart from numbers and paths in the reason.
/// Each line is one, whatever a reason holds, and says how many results were
/// not run again alone.
std::string UnexpectedText(const verdict::Verdicts& verdicts,
                           const select::Colours& colours);

/// The same as a section of Markdown, with the first cases of each group, in
/// less than 64 KiB.
std::string UnexpectedMarkdown(const verdict::Verdicts& verdicts);

/// Why backends are unavailable, a line each; empty where none is. One whose
/// cases end in errors is among the unexpected.
std::string UnavailableText(const verdict::Verdicts& verdicts);

/// One line of at most `most` bytes that Markdown shows as it is.
std::string MarkdownLine(std::string_view text, size_t most);

}  // namespace assay::run
