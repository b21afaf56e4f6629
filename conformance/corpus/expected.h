// SPDX-License-Identifier: Apache-2.0
//
// Expected outputs of cases with random weights, as the reference computes them
// in float64, rounded once to the declared types.
//
//   ASSAY_RETURN_IF_ERROR(corpus::WriteExpected(
//       {"build/corpus/random/model/light/test_vgg19"}));

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::corpus {

/// Writes those of each folder of a case beside its weights. An error says
/// which case could not be read, run or written.
Status WriteExpected(const std::vector<std::string>& folders);

}  // namespace assay::corpus
