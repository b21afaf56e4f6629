// SPDX-License-Identifier: Apache-2.0
//
// The ranks of the tensors in the models of cases, for queries that ask for
// them.
//
//   if (query.NeedsRanks()) AddRanks(&corpus.cases);
//
// They are worked out from the types that ONNX's inference finds, so that a
// query sees those of inner values too. No file of a corpus has them, since few
// queries ask.

#pragma once

#include <span>

#include "framework/testing/case/test_case.h"

namespace assay::select {

/// Fills TestCase::ranks of the cases that have none and a model on file. One
/// whose model cannot be read stays without.
void AddRanks(std::span<cases::TestCase> cases);

}  // namespace assay::select
