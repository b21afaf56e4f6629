// SPDX-License-Identifier: Apache-2.0
//
// Facts about the cases of a corpus that are found by running them: the
// expected outputs of those with random weights, and the inputs that do not
// show in the outputs when they are changed.

#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::corpus {

/// Writes the expected outputs of each folder of a case beside its weights, as
/// the reference computes them in float64, rounded once to the declared types.
/// An error says which case could not be read, run or written.
Status WriteExpected(const std::vector<std::string>& folders);

/// Runs each case again with other inputs on one backend. A line has a folder
/// and its cases, each with the indices of inputs that do not show, or "?"
/// where it does not run. It is data: it is committed, and every backend is
/// held to it. An error where the corpus or the module of that name cannot be
/// used.
Status WriteInsensitive(const std::string& backend,
                        const std::filesystem::path& corpus, std::ostream& out);

}  // namespace assay::corpus
