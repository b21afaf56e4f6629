// SPDX-License-Identifier: Apache-2.0
//
// The judge of a gradient case: a ladder of checks of a backend's forward and
// backward against an oracle's answers. Each check has its own reason to fail.
//
//     the forward of the network loaded for gradients, as conformance judges it
//     every element of every gradient, for two random cotangents, ones, one-hot
//     for ones, equality with what a case states (checks.h)
//     the gradient along signs against the exact tangent
//     in float64, against differences of the backend's own outputs
//     structure: what must hold between backward runs (structure.h)
//
// It also shows a judged case to a person who investigates it. In words: the
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
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

measure::Judgement Judge(const GradientCase& c, Backend& backend,
                         record::Record* record);

/// A gradient of random draws has no exact answer, but has one given the draw:
/// where the first output is the input times a mask of zeros and one other
/// number, the gradient is the cotangent times that mask.
///
/// Empty where the gradient is that of the mask; else names the first place
/// where it is not. Not found where the first output is no such product of the
/// one target.
Result<std::string> JudgeDrawnMask(const GradientCase& c, Trial& trial);

/// Reads the rows of gradients.csv of the record. Where the files of the case
/// are gone, the text leaves out the model.
std::vector<suite::Labelled> Tell(const GradientCase& c,
                                  const record::Record& record);

Status WriteEvidence(const GradientCase& c, Backend& backend,
                     const std::filesystem::path& folder);

/// The folders, and what each of them holds.
std::vector<suite::Labelled> EvidenceFiles();

}  // namespace assay::gradcheck
