// SPDX-License-Identifier: Apache-2.0
//
// HostedCases: cases of a batch run one after the other on a backend in a host.
// A host that ends in a case is that case's outcome and another goes on; one
// that ends between two cases is noted as nobody's.
//
//   HostedCases cases(*host, journal, /*most=*/1024);
//   ASSAY_RETURN_IF_ERROR(cases.Ready());
//   record::Record record = runner.Run(row);   // ends with cases.End()
//   ASSAY_ASSIGN_OR_RETURN(const bool whole, cases.Settle(&record));
//   if (whole) ASSAY_RETURN_IF_ERROR(journal.Append(record));
//   ASSAY_RETURN_IF_ERROR(cases.Leave());

#pragma once

#include <cstdint>
#include <functional>

#include "framework/core/status.h"
#include "framework/testing/host/case_end.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/record/record.h"
#include "framework/testing/worker/host_process.h"

namespace assay::worker {

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
  Status NoteEnd(const HostProcess::End& end);

  HostProcess& host_;
  journal::Journal& journal_;
  int64_t most_;
  std::function<void(pid_t)> note_files_;
  int64_t n_run_ = 0;  // by the process
  uint64_t n_libraries_ = 0;
  host::CaseEnd end_;
};

}  // namespace assay::worker
