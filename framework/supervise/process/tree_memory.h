// SPDX-License-Identifier: Apache-2.0
//
// The memory that processes hold together: private pages and shared ones,
// which RLIMIT_DATA does not count, and those of children, which it counts for
// each alone.
//
//   if (TreeMemory(ProcessTree::Members(worker), limit) > limit) Use(worker);

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace assay::process {

/// Bytes in memory that are no file's, each page once. Up to `enough` bytes it
/// may be more than that: a number that is quicker to have.
int64_t TreeMemory(const std::vector<pid_t>& processes, int64_t enough);

}  // namespace assay::process
