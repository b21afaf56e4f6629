// SPDX-License-Identifier: Apache-2.0
//
// HostProcess: the process in which a backend runs, so that its code is never
// in the one that reads expected values and writes verdicts.
//
//   ASSAY_ASSIGN_OR_RETURN(auto host, HostProcess::Start(program, use, true));
//   host::RemoteBackend backend(use.name, host->link());
//   ASSAY_RETURN_IF_ERROR(host->Begin());
//   ...                                   // calls of the backend
//   const HostProcess::End end = host->Finish();
//
// The program loads the module once and forks for each Begin, so that a crash
// costs a fork. Where the module has started threads when it was loaded, it
// serves by itself and each Begin but the first starts the program anew.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/testing/host/link.h"
#include "framework/testing/host/wire/channel.h"
#include "framework/testing/walls/walls.h"
#include "framework/testing/worker/open_backend.h"

namespace assay::worker {

/// The exit code of a host that has lost its end of the channel.
inline constexpr int kChannelLost = 97;

class HostProcess {
 public:
  /// How a process that served has ended.
  struct End {
    pid_t pid = 0;
    int wait_status = 0;
  };

  /// Starts the program and opens the backend, which declines as OpenBackend
  /// does. Cancelled when the program ended instead: `end` says how. With
  /// `forks` false it never forks, for a run of one case.
  static Result<std::unique_ptr<HostProcess>> Start(
      const std::filesystem::path& program, const ModuleUse& use,
      const walls::Walls& walls, bool forks, End* end);
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;
  /// Kills what still runs.
  ~HostProcess();

  host::Link& link() { return link_; }
  /// Why there are no walls around it; empty where there are.
  const std::string& reach() const { return reach_; }

  /// From now on a fresh process serves. As Start declines.
  Status Begin(End* end);
  bool serves() const { return pid_ != 0; }
  pid_t pid() const { return pid_; }

  /// Lets it end by itself, however long that takes.
  End Finish();
  /// Ends it at once.
  void Kill();

 private:
  HostProcess(std::filesystem::path program, ModuleUse use, walls::Walls walls,
              bool forks)
      : program_(std::move(program)),
        use_(std::move(use)),
        walls_(std::move(walls)),
        forks_(forks) {}

  Status Launch(End* end);
  End Reap();

  std::filesystem::path program_;
  ModuleUse use_;
  walls::Walls walls_;
  bool forks_;
  std::string reach_;
  pid_t program_pid_ = 0;  // 0: none runs
  pid_t pid_ = 0;          // that serves; the program's own where none forks
  wire::Channel door_;
  host::Link link_;
};

}  // namespace assay::worker
