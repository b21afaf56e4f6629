// SPDX-License-Identifier: Apache-2.0
//
// Evidence: all that a verdict on gradients rests on, as files for whoever is
// to look into it.
//
//   ASSAY_RETURN_IF_ERROR(WriteEvidence(gradient_case, backend, folder));
//
//     exact/output_K.pb                          K by the order of the outputs
//     exact/random_1/cotangent_K.pb              and random_2, ones, one-hot
//     exact/random_1/gradient_K.pb, limit_K.pb   K by the order of the targets
//     exact/random_1/hull_low_K.pb, hull_high_K.pb, where some element is tied
//     got/output_K.pb, got/random_1/gradient_K.pb
//
// What is exact is in float64; an infinite limit stands where an element is not
// judged by itself.

#pragma once

#include <filesystem>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

Status WriteEvidence(const GradientCase& c, Backend& backend,
                     const std::filesystem::path& folder);

/// The folders, and what each of them holds.
std::vector<suite::Labelled> EvidenceFiles();

}  // namespace assay::gradcheck
