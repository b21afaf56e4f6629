// SPDX-License-Identifier: Apache-2.0
//
// BuildId: the identity of a build of the harness. A finding about one build is
// never told of another.
//
//   ASSAY_ASSIGN_OR_RETURN(std::string build, BuildId(InstallPrefix()));
//
// A run hands in its digests, so that no file is read twice.

#pragma once

#include <filesystem>
#include <string>

#include "framework/core/status.h"
#include "framework/file/file_digests.h"

namespace assay::file {

/// The same over bin/assay-worker and lib/libassay_core.so alone: what judges a
/// case.
Result<std::string> WorkerId(const std::filesystem::path& prefix,
                             const FileDigests& digests = {});

/// SHA-256 over bin/assay, bin/assay-worker and lib/libassay_core.so below
/// `prefix`, in that order. Not found, naming the file that cannot be read.
Result<std::string> BuildId(const std::filesystem::path& prefix,
                            const FileDigests& digests = {});

}  // namespace assay::file
