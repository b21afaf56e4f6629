// SPDX-License-Identifier: Apache-2.0
//
// Networks at random as a corpus of gradient cases.
//
//   ASSAY_RETURN_IF_ERROR(
//       WriteComposedCorpus(300, "build/composed.txt", "build/corpus/composed"));

#pragma once

#include <cstdint>
#include <filesystem>

#include "framework/core/status.h"

namespace assay::gradcheck {

/// Writes the first `count` networks (composer.h) to `text`, and the corpus of
/// them, every tenth of tier ci, the others of nightly.
Status WriteComposedCorpus(int64_t count, const std::filesystem::path& text,
                           const std::filesystem::path& place);

}  // namespace assay::gradcheck
