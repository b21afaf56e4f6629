// SPDX-License-Identifier: Apache-2.0
//
// The corpora of gradient cases that are written as text: `field`, shapes and
// values for which a public thread reports a wrong gradient, and `graphs`,
// networks. They are cases of the suite gradcheck, which asks an oracle; where a
// network's text states gradients, these are judged by, too.
//
//   ASSAY_RETURN_IF_ERROR(WriteGradientCorpus(
//       "field", {"cases/pooling.txt"}, "build/corpus/field"));

#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "framework/core/status.h"

namespace assay::gradcheck {

/// Writes the corpus of that name, which takes the place of an older one there
/// when all went well. Invalid argument for another name, or for a wrong text,
/// with file and line.
Status WriteGradientCorpus(std::string_view name,
                           const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& place);

}  // namespace assay::gradcheck
