// SPDX-License-Identifier: Apache-2.0
//
// The cases of the suite: those of nodes and models in the run's corpora whose
// inputs can be drawn and whose outputs follow from them.
//
//   for (const cases::TestCase& c : RedrawnCases(corpora)) {
//     // redrawn/Relu/test_relu, claimed as node/Relu/test_relu is
//   }

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/case/corpus.h"

namespace assay::redrawn {

std::vector<cases::TestCase> RedrawnCases(
    std::span<const cases::Corpus> corpora);

/// Why a case of a node or a model is not among them; empty where it is, and
/// for any other case.
std::string WhyNot(const cases::TestCase& test_case);

/// "node/Relu/test_relu" or "model/simple/test_sign_model", the case that one
/// of the suite is derived from; any other id as it is.
std::string SourceOf(std::string_view test_id);

}  // namespace assay::redrawn
