// SPDX-License-Identifier: Apache-2.0
//
// The suite outputs: it writes what a backend answers to cases to files.
// Nothing is compared. For the outputs in a capsule, and for the reference's
// answers to new cases.
//
//   AddSuite(OutputsSuite());
//   // RunFacts::output / <test_id>/test_data_set_0/output_0.pb
//
// A case needs a model and inputs only; where its expected outputs would lie
// is where its answers may go.

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::suite {

inline constexpr char kOutputsSuite[] = "outputs";

/// A case passes when every output was written; else it is what a judged run
/// would call it: unsupported, unavailable or error.
Suite OutputsSuite();

}  // namespace assay::suite
