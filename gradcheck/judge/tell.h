// SPDX-License-Identifier: Apache-2.0
//
// A judged gradient case in words: what it is about, and of each gradient the
// worst element with all that its limit is made of.
//
//   for (const auto& [label, text] : Tell(gradient_case, record)) Print(label);

#pragma once

#include <vector>

#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

/// Reads the rows of gradients.csv of the record. Where the files of the case
/// are gone it is told without its model.
std::vector<suite::Labelled> Tell(const GradientCase& c,
                                  const record::Record& record);

}  // namespace assay::gradcheck
