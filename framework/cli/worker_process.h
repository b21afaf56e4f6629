// SPDX-License-Identifier: Apache-2.0
//
// WorkerProcess: one running assay-worker with the journal it writes.
//
//   ASSAY_ASSIGN_OR_RETURN(auto worker, WorkerProcess::Start(command));
//   while (!worker->Ended()) worker->Wait(std::chrono::milliseconds(10));
//   worker->HowItEnded();    // "signal SIGSEGV", "exit code 3", ""
//
// A worker leads a process group of its own, which is killed as a whole; its
// environment has no GTEST_ variables and its output goes to a log.

#ifndef ASSAY_CLI_WORKER_PROCESS_H_
#define ASSAY_CLI_WORKER_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::inline v1 {

class WorkerProcess {
 public:
  /// `arguments` begins with the program. Output is appended to `log`.
  static Result<std::unique_ptr<WorkerProcess>> Start(
      const std::vector<std::string>& arguments,
      const std::filesystem::path& log);

  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Kills what still runs.
  ~WorkerProcess();

  /// Whether the process has ended; reaps it.
  bool Ended();

  /// Ends the whole group at once and reaps the process.
  void Kill();

  /// Empty for exit code 0; valid once it has ended.
  std::string HowItEnded() const;
  bool EndedBySignal() const;
  int exit_code() const;

  /// A descriptor that becomes readable when the process ends; -1 if none.
  int descriptor() const { return descriptor_; }

 private:
  WorkerProcess(pid_t pid, int descriptor)
      : pid_(pid), descriptor_(descriptor) {}

  pid_t pid_;
  int descriptor_;
  std::optional<int> wait_status_;
};

}  // namespace assay::inline v1

#endif  // ASSAY_CLI_WORKER_PROCESS_H_
