// SPDX-License-Identifier: Apache-2.0
//
// Networks at random: 2 to 12 nodes, of which at least two read one value, on
// tensors of two small axes; and the corpus of them.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "framework/core/status.h"

namespace assay::gradcheck {

/// A case in the text of conformance/special, with values of its inputs: the
/// same text for the same number on every machine. The outputs are the values
/// that no node reads. Numbers stay below 1000, and far enough from where an
/// operator is not defined.
std::string ComposedCase(int64_t number);

/// Writes the first `count` networks (composer.h) to `text`, and the corpus of
/// them, every tenth of tier ci, the others of nightly.
Status WriteComposedCorpus(int64_t count, const std::filesystem::path& text,
                           const std::filesystem::path& place);

}  // namespace assay::gradcheck
