// SPDX-License-Identifier: Apache-2.0
//
// The gradient cases that are derived from those of corpora: for each case of
// one operator that the catalogue calls differentiable, one for each class of
// inputs and each type that the operator permits; for each expansion of one,
// its own inputs and others in its own type; and for each network of the corpus
// graphs the classes and types beside float32 as it is written, for those of
// the corpus scaled float64.
//
//   for (const cases::TestCase& c : GradientCases(corpora)) {
//     // gradcheck/Relu/test_relu#redrawn.float64, claimed by `claim gradient`
//   }

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/case/corpus.h"

namespace assay::gradcheck {

std::vector<cases::TestCase> GradientCases(
    std::span<const cases::Corpus> corpora);

/// "node/Relu/test_relu" or "gradcheck/golden/linear_relu#official.float32",
/// the case that a gradient case is derived from; the id itself for any other.
std::string SourceOf(std::string_view test_id);

}  // namespace assay::gradcheck
