// SPDX-License-Identifier: Apache-2.0
//
// A judged gradient case for a person who investigates it. In words: the
// subject of the case, and for each gradient the worst element with all parts
// of its limit. As files: the evidence of the verdict:
//
//     exact/output_K.pb                          K by the order of the outputs
//     exact/random_1/cotangent_K.pb              and random_2, ones, one-hot
//     exact/random_1/gradient_K.pb, limit_K.pb   K by the order of the targets
//     exact/random_1/hull_low_K.pb, hull_high_K.pb, where some element is tied
//     got/output_K.pb, got/random_1/gradient_K.pb
//
// Exact numbers are in float64; an infinite limit stands where an element is
// not judged by itself.

#pragma once

#include <filesystem>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

/// Reads the rows of gradients.csv of the record. Where the files of the case
/// are gone, the text leaves out the model.
std::vector<suite::Labelled> Tell(const GradientCase& c,
                                  const record::Record& record);

Status WriteEvidence(const GradientCase& c, Backend& backend,
                     const std::filesystem::path& folder);

/// The folders, and what each of them holds.
std::vector<suite::Labelled> EvidenceFiles();

}  // namespace assay::gradcheck
