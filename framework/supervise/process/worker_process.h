// SPDX-License-Identifier: Apache-2.0
//
// WorkerProcess: one running assay-worker with the journal it writes, within
// its limits.
//
// A worker leads a process group of its own. Whatever descends from it is
// killed with it, in whatever group or session (process_tree.h). Its
// environment has no GTEST_ variables; its output goes to a log, of which the
// first MiB is kept.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"

namespace assay::process {

/// The share of the machine that a worker may take, so that a backend that runs
/// away meets bad_alloc, or ends its own worker, before the kernel picks a
/// victim or the disk is full.
struct WorkerLimits {
  /// Writable private memory (RLIMIT_DATA); 0: no limit. Little more may be
  /// held by the worker with all that descends from it, shared memory too
  /// (TreeLimit, TreeMemory). Not set in a build with a sanitizer whose
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
/// when memory runs out all the same. A limit that the system refuses is left
/// as it is. May be called behind a fork of a program with threads.
void ApplyLimits(const WorkerLimits& limits);

/// "signal SIGSEGV", "exit code 3", empty for exit code 0.
std::string DescribeEnd(int wait_status);

class WorkerProcess {
 public:
  /// `arguments` begins with the program. Output is appended to `log`.
  static Result<std::unique_ptr<WorkerProcess>> Start(
      const std::vector<std::string>& arguments,
      const std::filesystem::path& log, const WorkerLimits& limits);

  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Kills what still runs.
  ~WorkerProcess();

  /// True when the process has ended; then reaps it and ends its leftovers.
  /// Keeps the log short, so call it every few milliseconds.
  bool Ended();

  /// Ends the process and all that descends from it at once, and reaps it.
  void Kill();

  /// As waitpid gives it; valid once it has ended.
  int wait_status() const { return wait_status_.value_or(0); }
  pid_t pid() const { return pid_; }

  /// A descriptor that becomes readable when the process ends; -1 if none.
  int descriptor() const { return descriptor_; }

 private:
  WorkerProcess(pid_t pid, int descriptor, std::filesystem::path log)
      : pid_(pid), descriptor_(descriptor), log_(std::move(log)) {}
  void Reap();

  pid_t pid_;
  int descriptor_;
  std::filesystem::path log_;
  std::optional<int> wait_status_;
};

}  // namespace assay::process
