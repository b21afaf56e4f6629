// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a corpus' cases that do not show in the outputs when they are
// changed, which is found out by running each case again on one backend.
//
//   corpus::WriteInsensitive("reference", "build/corpus/onnx", std::cout);
//
// A line has a folder and its cases, each with the indices of such inputs, or
// "?" where it does not run. It is data: it is committed, and every backend is
// held to it.

#pragma once

#include <filesystem>
#include <ostream>
#include <string>

#include "framework/core/status.h"

namespace assay::corpus {

/// An error where the corpus or the module of that name cannot be used.
Status WriteInsensitive(const std::string& backend,
                        const std::filesystem::path& corpus, std::ostream& out);

}  // namespace assay::corpus
