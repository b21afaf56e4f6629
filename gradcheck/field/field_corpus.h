// SPDX-License-Identifier: Apache-2.0
//
// The corpus `field`: shapes and values for which a public thread reports a wrong
// gradient, points where pieces of a function meet, and special values, written as
// text. They are cases of the suite gradcheck; nothing is expected, since the suite
// asks an oracle.
//
// The folder of a file says what class of inputs its cases are of: borders, special
// or, in any other, field. Those of field in float32 are cases of the other types
// as well, where these have all of their numbers.
//
//   ASSAY_RETURN_IF_ERROR(
//       WriteFieldCorpus({"cases/pooling.txt"}, "build/corpus/field"));

#pragma once

#include <filesystem>
#include <vector>

#include "framework/core/status.h"

namespace assay::gradcheck {

/// Writes the corpus, which takes the place of an older one there when all went
/// well. Invalid argument for a wrong text, with file and line.
Status WriteFieldCorpus(const std::vector<std::filesystem::path>& files,
                        const std::filesystem::path& place);

}  // namespace assay::gradcheck
