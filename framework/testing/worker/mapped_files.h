// SPDX-License-Identifier: Apache-2.0
//
// The files that this process executes from: the program, its module and every
// library that they brought.
//
//   ASSAY_RETURN_IF_ERROR(journal.Mapped(MappedFiles()));

#pragma once

#include <string>

namespace assay::worker {

/// Their absolute paths, sorted, a line each. What has no file any more is left
/// out.
std::string MappedFiles();

}  // namespace assay::worker
