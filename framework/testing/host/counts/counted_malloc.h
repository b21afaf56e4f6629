// SPDX-License-Identifier: Apache-2.0
//
// AllocationCount: how often this process has allocated memory while somebody
// counts, in programs that are linked with counted_malloc.cc.
//
//   allocation_count.is_on = true;
//   call();
//   allocation_count.is_on = false;
//   const int64_t calls = allocation_count.calls;

#pragma once

#include <atomic>
#include <cstdint>

namespace assay::counts {

/// The count of all threads. `calls` and `bytes` only grow.
struct AllocationCount {
  std::atomic<bool> is_on = false;
  std::atomic<int64_t> calls = 0;
  std::atomic<int64_t> bytes = 0;
};

extern constinit AllocationCount allocation_count;

}  // namespace assay::counts
