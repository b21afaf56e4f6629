// SPDX-License-Identifier: Apache-2.0
//
// Whole files, read and written: a written file is there whole or not at all.
//
//   ASSAY_RETURN_IF_ERROR(WriteFile("run/results.csv", table));
//   ASSAY_ASSIGN_OR_RETURN(std::string text, ReadFile("run/results.csv"));

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "framework/core/status.h"

namespace assay::file {

/// Not found, with path and the system's reason.
Result<std::string> ReadFile(const std::filesystem::path& file);

/// Writes beside the file and renames over it. Resource exhausted, with path
/// and the system's reason; the old content then stays.
Status WriteFile(const std::filesystem::path& file, std::string_view text);

/// Creates a folder and those above it. Resource exhausted with the reason.
Status MakeDirectory(const std::filesystem::path& directory);

}  // namespace assay::file
