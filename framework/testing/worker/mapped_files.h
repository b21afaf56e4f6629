// SPDX-License-Identifier: Apache-2.0
//
// The files that processes execute from: the programs, a module and every
// library that they brought.
//
//   ASSAY_RETURN_IF_ERROR(journal.Mapped(MappedFiles({getpid()})));

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace assay::worker {

/// Their absolute paths, of this process and of others, sorted, a line each.
/// What has no file any more is left out.
std::string MappedFiles(std::initializer_list<pid_t> others = {});

/// How many libraries this process has loaded, gone ones among them: another
/// number says that MappedFiles may be others. A call costs less than 1 us.
uint64_t LibrariesLoaded();

}  // namespace assay::worker
