// SPDX-License-Identifier: Apache-2.0
//
// ONNX's light models, scaled down, as a corpus of gradient cases.

#pragma once

#include <cstdint>
#include <filesystem>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "gradcheck/scaled/scale.h"

namespace assay::gradcheck {

/// The least divisor, a multiple of 4, that leaves a model at most so many
/// numbers in its weights, with the smallest images that have 2 pixels wherever
/// the model has several. Resource exhausted where no divisor does.
Result<Scale> ScaleWithin(const Model& model, int64_t most_weights);

/// The model at that scale, with random weights, and inputs (random_weights.h).
Result<cases::CaseData> ScaledCase(const Model& model, const Scale& scale,
                                   int64_t seed);

/// Writes a case for each folder of `models` that has a model.onnx.
Status WriteScaledCorpus(const std::filesystem::path& models,
                         const std::filesystem::path& place);

}  // namespace assay::gradcheck
