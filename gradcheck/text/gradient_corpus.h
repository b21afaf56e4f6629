// SPDX-License-Identifier: Apache-2.0
//
// The corpora of gradient cases that are written as text: `field`, shapes and
// values for which a public thread reports a wrong gradient, points where
// pieces of a function meet, and special values; and `graphs`, networks. They
// are cases of the suite gradcheck, which asks an oracle; where a network's
// text states gradients, these are judged by, too.
//
// In `field` the folder of a file says what class of inputs its cases are of:
// borders, special or, in any other, field. Those of field in float32 are cases
// of the other types as well, where these have all of their numbers.

#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "framework/core/status.h"

namespace assay::gradcheck {

/// Writes the corpus of that name, which takes the place of an older one there
/// when all went well. Invalid argument for another name, for a report that
/// names no thread, or for a wrong text, with file and line.
Status WriteGradientCorpus(std::string_view name,
                           const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& place);

}  // namespace assay::gradcheck
