// SPDX-License-Identifier: Apache-2.0
//
// WorkerProcess: one running assay-worker with the journal it writes.
//
//   ASSAY_ASSIGN_OR_RETURN(auto worker,
//                          WorkerProcess::Start(command, log, limits));
//   while (!worker->Ended()) worker->Wait(std::chrono::milliseconds(10));
//   DescribeEnd(worker->wait_status());    // "signal SIGSEGV"
//
// A worker leads a process group of its own. Whatever descends from it is
// killed with it, in whatever group or session (see process_tree.h). Its
// environment has no GTEST_ variables; its output goes to a log, of which the
// first MiB is kept.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/supervise/process/worker_limits.h"

namespace assay::process {

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
