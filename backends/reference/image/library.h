// SPDX-License-Identifier: Apache-2.0
//
// The module image_codecs, loaded on first use. It lies in the folder codecs
// beside the backend's module.

#pragma once

#include <filesystem>

#include "backends/reference/image/image.h"
#include "framework/core/status.h"

namespace assay::reference {

/// Once in a process; the same answer ever after. Unavailable, naming the file,
/// when it is missing or one of its libraries is.
Result<const ImageCodecs*> LoadImageCodecs();

/// The same of that file, without remembering.
Result<const ImageCodecs*> LoadImageCodecs(const std::filesystem::path& file);

}  // namespace assay::reference
