// SPDX-License-Identifier: Apache-2.0
//
// Suites that run over the cases of others, or over none, and compare nothing.

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::suite {

inline constexpr char kAnswersSuite[] = "answers";
inline constexpr char kOutputsSuite[] = "outputs";
inline constexpr char kInterfacesSuite[] = "interfaces";

/// Has a backend say exactly what the suites of cases ask of an oracle: puts
/// the questions of a case to each data set and writes the answers below
/// row.oracle, as set_0.exact, for ReadAnswers. A case passes when every answer
/// was written; it is unsupported or unavailable when the backend declines, at
/// Load or when it is asked, or offers no Exact; else it is an error.
Suite AnswersSuite();

/// Writes what a backend answers to cases to files: RunFacts::output /
/// <test_id>/test_data_set_0/output_0.pb. For the outputs in a capsule, and for
/// the reference's answers to new cases, which need a model and inputs only. A
/// case passes when every output was written; else it is what a judged run
/// would call it: unsupported, unavailable or error.
Suite OutputsSuite();

/// Asks a backend for the optional interfaces of a network of one operator;
/// nothing runs forward. A case passes when the backend loads one of the
/// suite's models, and its message names what the network offers and the
/// operator: "differentiable, placement; by Relu". It is unsupported, with the
/// last reason, when the backend declines them all; else an error.
Suite InterfacesSuite();

}  // namespace assay::suite
