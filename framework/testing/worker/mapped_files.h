// SPDX-License-Identifier: Apache-2.0
//
// The files that this process executes from: the program, its module and every
// library that they brought.
//
//   ASSAY_RETURN_IF_ERROR(journal.Mapped(MappedFiles()));

#pragma once

#include <cstdint>
#include <string>

namespace assay::worker {

/// Their absolute paths, sorted, a line each. What has no file any more is left
/// out.
std::string MappedFiles();

/// How many libraries this process has loaded, gone ones among them: another
/// number says that MappedFiles may be others. A call costs less than 1 us.
uint64_t LibrariesLoaded();

}  // namespace assay::worker
