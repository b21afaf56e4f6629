// SPDX-License-Identifier: Apache-2.0
//
// WorkerLimits: what a worker may take of the machine, so that a backend that
// runs away meets bad_alloc, or ends its own worker, before the kernel picks a
// victim or the disk is full.
//
//   WorkerLimits limits;
//   limits.memory_bytes = MemoryShare(/*workers=*/2);
//   ApplyLimits(limits);  // in the child that becomes the worker

#pragma once

#include <cstdint>

namespace assay::process {

struct WorkerLimits {
  /// Writable private memory (RLIMIT_DATA); 0: no limit. Little more may be
  /// held by the worker with all that descends from it, shared memory too
  /// (TreeLimit, tree_memory.h). Not set in a build with a sanitizer whose
  /// shadow memory would count.
  int64_t memory_bytes = 0;
  /// Size of any file (RLIMIT_FSIZE); beyond it the worker gets SIGXFSZ.
  int64_t file_bytes = int64_t{4} << 30;
};

/// Four fifths of the memory of the machine, or of our control group, divided
/// by the workers; at least 4 GiB or half of the memory.
int64_t MemoryShare(int workers);

/// The memory of a worker with all that descends from it; 0: no limit.
int64_t TreeLimit(const WorkerLimits& limits);

/// Limits this process, and what it starts; makes it the kernel's first choice
/// when memory runs out all the same. What the system refuses is left as it is.
/// May be called behind a fork of a program with threads.
void ApplyLimits(const WorkerLimits& limits);

}  // namespace assay::process
