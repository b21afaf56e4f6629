// SPDX-License-Identifier: Apache-2.0
//
// Images of bytes, as many formats have them.
//
//   ASSAY_ASSIGN_OR_RETURN(const Dataset dataset,
//                          ImagesOf(path, pixels, labels, {1, 28, 28}, 10));

#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"

namespace assay::train {

/// Inputs are float32[N, dims...], the bytes of `pixels` over 255; N is the
/// number of labels. As Dataset::Of declines, with the file.
Result<Dataset> ImagesOf(const std::filesystem::path& path,
                         std::string_view pixels,
                         const std::vector<int64_t>& labels,
                         const std::vector<int64_t>& dims, int64_t classes);

}  // namespace assay::train
