// SPDX-License-Identifier: Apache-2.0
//
// WorkerSession: cases of one backend, from the first batch to the last
// verdict, through as many workers, one after the other, as that takes.

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/supervise/options.h"
#include "framework/supervise/process/crash_log.h"
#include "framework/supervise/process/worker_process.h"
#include "framework/supervise/session/transition.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/request/request.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::supervise {

class WorkerSession {
 public:
  /// Its files are named INSTANCE.NUMBER; there must be no such journal yet.
  /// The rows are run in their order, suite by suite.
  WorkerSession(const plan::BackendUse& backend, int number,
                const std::vector<const record::PlanRow*>& rows,
                const SuperviseOptions& options, verdict::RawRecords* raw);
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;
  /// Removes the files that launched ranks leave behind.
  ~WorkerSession();

  Status StartWorker();

  /// Looks at the worker once, without waiting.
  Status Step();

  bool Done() const {
    return state_ == session::State::kGone && pending_.empty();
  }
  int descriptor() const { return worker_ ? worker_->descriptor() : -1; }
  int64_t finished() const { return finished_; }
  int64_t unexpected() const { return unexpected_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path File(const char* extension) const;
  request::WorkerRequest RequestOf(int64_t count) const;
  /// For as many ranks as the rows of a batch need at most.
  Result<std::vector<std::string>> LaunchCommand(int64_t ranks) const;
  Status On(session::Event event);
  Status Look();
  Status ReadJournal();
  Status Take(journal::JournalEntry entry);
  Status EnforceTimeLimit();
  Status EnforceMemoryLimit();
  std::string WaitText() const;
  Status GoOver(record::Outcome outcome, std::string why, std::string of_case);
  Status AfterWorker();
  Status GoOn();
  Status GiveUp();
  // The actions of the table.
  Status Kill();
  Status ChargeEnd();
  Status ChargeLimit();
  Status NoteEnd();
  Status NoteLimit();
  Status TryAgain();
  Status LoseAll();
  Status Mend();
  std::string EndText();
  Status NoteFiles(std::string_view paths);
  Result<journal::Journal*> OwnJournal();
  Status RecordLoss(const std::string& test_id, record::Outcome outcome,
                    Reason reason, std::string message);
  Status NoteLoss(record::Outcome outcome, Reason reason, std::string message);
  Status Write(record::Record loss);
  void Finish(const record::ResultRow& result);

  const plan::BackendUse& backend_;
  const SuperviseOptions& options_;
  verdict::RawRecords& raw_;
  std::string stem_;                     // of its files
  journal::JournalReader reader_;        // of what workers write
  process::CrashLog log_;                // of what they print
  std::optional<journal::Journal> own_;  // what is written here of them
  std::string files_;                    // that the last worker ran, by digest
  std::vector<const record::PlanRow*> order_;  // of the rows
  std::map<std::string, const record::PlanRow*> pending_;
  std::unique_ptr<process::WorkerProcess> worker_;
  session::State state_ = session::State::kGone;
  std::string open_case_;  // begun and without a verdict
  Status fault_;           // why the worker is broken, or what it wrote
  std::string broken_at_;  // the case that was open when that was so last
  Clock::time_point opened_;
  int64_t began_us_ = 0;  // the same, of the clock that records have
  int64_t pid_ = 0;       // of the process that began it
  int end_ = 0;           // of the process that ended last, as waitpid has it
  std::string asked_;     // the call that it was in, as its worker has it
  /// The limit that the worker went over.
  struct Over {
    record::Outcome outcome;
    std::string why;      // "took more than 3 s"
    std::string of_case;  // the same, of the case that was open
    bool is_through;      // with its batch
  };
  Over over_ = {};
  int overdue_in_row_ = 0;      // cases, since one had another verdict
  Clock::time_point weigh_at_;  // when to look at the memory again
  int64_t finished_ = 0;
  int64_t unexpected_ = 0;  // among them
};

}  // namespace assay::supervise
