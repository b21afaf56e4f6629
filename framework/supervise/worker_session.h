// SPDX-License-Identifier: Apache-2.0
//
// WorkerSession: cases of one backend, from the first batch to the last
// verdict, through as many workers, one after the other, as that takes.
//
//   WorkerSession session(plan.Backend("onednn"), 1, rows, options, &raw);
//   ASSAY_RETURN_IF_ERROR(session.StartWorker());
//   while (!session.Done()) ASSAY_RETURN_IF_ERROR(session.Step());

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/supervise/options.h"
#include "framework/supervise/process/worker_process.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/request/worker_request.h"
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
  /// What launched ranks leave behind goes with it.
  ~WorkerSession();

  Status StartWorker();

  /// Looks at the worker once, without waiting.
  Status Step();

  bool Done() const { return worker_ == nullptr && pending_.empty(); }
  int descriptor() const { return worker_ ? worker_->descriptor() : -1; }
  int64_t finished() const { return finished_; }
  int64_t unexpected() const { return unexpected_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path File(const char* extension) const;
  request::WorkerRequest RequestFor(int64_t count) const;
  /// For as many ranks as the rows of a batch need at most.
  Result<std::vector<std::string>> LaunchCommand(int64_t ranks) const;
  Status Look();
  Status ReadJournal();
  Status AfterBrokenJournal();
  Status Take(journal::JournalEntry entry);
  Status EnforceTimeLimit();
  Status EnforceMemoryLimit();
  std::string WaitText() const;
  Status KillFor(record::Outcome outcome, std::string why,
                 const std::string& of_case);
  Status AfterNoCase(int wait_status);
  Status GiveUp();
  Status NoteFiles(std::string_view paths);
  Result<journal::Journal*> OwnJournal();
  Status AfterWorker();
  Status AfterChild(int wait_status);
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
  std::optional<journal::Journal> own_;  // what is written here of them
  std::string files_;                    // that the last worker ran, by digest
  std::vector<const record::PlanRow*> order_;  // of the rows
  std::map<std::string, const record::PlanRow*> pending_;
  std::unique_ptr<process::WorkerProcess> worker_;
  std::string open_case_;  // begun and without a verdict
  Status broken_;          // why what a worker wrote cannot be read
  std::string broken_at_;  // the case that was open when it was so last
  Clock::time_point opened_;
  int64_t began_us_ = 0;  // the same, of the clock that records have
  int64_t pid_ = 0;       // of the process that began it
  /// The limit for which the worker was killed, if any.
  struct Killed {
    record::Outcome outcome;
    std::string why;  // "took more than 3 s"
  };
  std::optional<Killed> killed_;
  bool accounted_ = false;      // by the case that was open then
  int overdue_in_row_ = 0;      // cases, since one had another verdict
  Clock::time_point weigh_at_;  // when to look at the memory again
  bool progressed_ = false;     // since this worker started
  bool began_again_ = false;    // after a worker that did not
  bool through_ = false;        // with its batch
  int64_t finished_ = 0;
  int64_t unexpected_ = 0;  // among them
};

}  // namespace assay::supervise
