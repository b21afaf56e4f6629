// SPDX-License-Identifier: Apache-2.0
//
// The suite answers: it has a backend say exactly what the suites of cases ask
// of an oracle, and writes that to files. Nothing is compared.
//
//   AddSuite(AnswersSuite());
//   // row.oracle + "/set_0.exact", read by ReadAnswers

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::suite {

inline constexpr char kAnswersSuite[] = "answers";

/// Puts the questions of a case to each data set and writes the answers below
/// row.oracle. A case passes when every answer was written; it is unsupported
/// or unavailable when the backend declines, at Load or when it is asked, or
/// offers no Exact; else it is an error.
Suite AnswersSuite();

}  // namespace assay::suite
