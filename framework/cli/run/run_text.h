// SPDX-License-Identifier: Apache-2.0
//
// A run's text for a person. While it runs, its progress: on a terminal one
// line that is written over, in a pipe a line at each tenth of a run that is
// worth waiting for. At its end what turned it red, for a terminal and for a
// summary: grouped by why, the most frequent first, with one command that
// repeats one of each group. A module that cannot be loaded fails every case,
// and is said once.

#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "framework/cli/select/terminal.h"
#include "framework/supervise/options.h"
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

/// Both questions about a run: was it as expected, and is each backend
/// conformant, as "As expected. 3 of 4 conformant: smpi is not (6 of 523 cases
/// inside its claims do not pass: xfail 6)."
std::string HeadlineText(const verdict::Verdicts& verdicts,
                         const select::Colours& colours);

/// The cases that no oracle can judge, a line each. Empty where there is none.
std::string UndecidedText(const verdict::Verdicts& verdicts);

/// Why backends are unavailable where they may be, a line each; empty where
/// none is. Others are among the unexpected.
std::string UnavailableText(const verdict::Verdicts& verdicts);

/// One line of at most `most` bytes that Markdown shows as it is.
std::string MarkdownLine(std::string_view text, size_t most);

/// "4.5 s", "45 s", "12 min", "3 h".
std::string TimeText(double seconds);

/// "[####    ] 50 of 100 cases, 3 unexpected, 12 s left", in at most `columns`;
/// what does not fit is left out, the count of cases last. Without a time where
/// `left_s` is negative.
std::string ProgressText(const supervise::Progress& now, double left_s,
                         size_t columns);

/// Shows the progress of a run on standard error for as long as it is kept.
std::function<void(const supervise::Progress&)> ShownProgress();

}  // namespace assay::run
