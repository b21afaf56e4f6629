// SPDX-License-Identifier: Apache-2.0
//
// DrawnImages: a dataset of a seed: ten patterns, and samples that are one of them with
// noise. A network learns them in few steps, and no file has to be there.
//
//   ASSAY_ASSIGN_OR_RETURN(const Dataset images, DrawnImages(2048, /*seed=*/7));

#pragma once

#include <cstdint>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"

namespace assay::train {

/// float32[N,1,28,28] of ten classes, the same on every machine.
Result<Dataset> DrawnImages(int64_t samples, uint64_t seed);

}  // namespace assay::train
