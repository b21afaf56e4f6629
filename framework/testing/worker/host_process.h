// SPDX-License-Identifier: Apache-2.0
//
// HostProcess: the process in which a backend runs, so that its code is never
// in the one that reads expected values and writes verdicts.
//
//   HostProcess::End end;
//   ASSAY_ASSIGN_OR_RETURN(
//       auto host, HostProcess::Start(program, use, walls, true, &end));
//   host::RemoteBackend backend(use.name, host->link());
//   ASSAY_RETURN_IF_ERROR(host->Begin(&end));
//   ...                                   // calls of the backend
//   end = host->Finish();
//
// The program loads the module once and forks for each Begin, so that a crash
// costs a fork. Where the module has started threads when it was loaded, it
// serves by itself and each Begin but the first starts the program anew.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/testing/host/link.h"
#include "framework/testing/host/server.h"
#include "framework/testing/host/wire/channel.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/record/record.h"
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

/// Cases of a batch, run one after the other on a backend in a host. A host
/// that ends in a case is that case's outcome, and another host goes on; one
/// that ends between two cases is noted as nobody's.
///
///   HostedCases cases(*host, journal, /*most=*/1024, note_files);
///   ASSAY_RETURN_IF_ERROR(cases.Ready());
///   record::Record record = runner.Run(row);   // ends with cases.End()
///   ASSAY_ASSIGN_OR_RETURN(const bool whole, cases.Settle(&record));
///   if (whole) ASSAY_RETURN_IF_ERROR(journal.Append(record));
///   ASSAY_RETURN_IF_ERROR(cases.Leave());
class HostedCases {
 public:
  /// A process serves `most` cases at most. `note_files` is told when its
  /// files may be others than before.
  HostedCases(HostProcess& host, journal::Journal& journal, int64_t most,
              std::function<void(pid_t)> note_files)
      : host_(host),
        journal_(journal),
        most_(most),
        note_files_(std::move(note_files)) {}

  /// A process serves, a fresh one where none did.
  Status Ready();
  pid_t pid() const { return host_.pid(); }

  /// Asks the process what the case left behind.
  host::CaseEnd End();

  /// False when the process ended in the case: the journal says how, and the
  /// record counts for nothing. Where it cannot be talked to any more, it is
  /// ended, and the record says why.
  Result<bool> Settle(record::Record* record);

  /// After the record is written: ends a process that has done its share, or
  /// whose state a later case could feel.
  Status Leave();
  /// Ends it whatever it has done.
  Status Close();

 private:
  HostProcess& host_;
  journal::Journal& journal_;
  int64_t most_;
  std::function<void(pid_t)> note_files_;
  int64_t n_run_ = 0;  // by the process
  uint64_t n_libraries_ = 0;
  host::CaseEnd end_;
};

}  // namespace assay::worker
