// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/worker_session.h"

#include <unistd.h>

#include <utility>

#include "framework/testing/file.h"
#include "framework/testing/tables.h"

namespace assay::inline v1 {
namespace {

constexpr int kHarnessExit = 99;

}  // namespace

std::string JournalName(std::string_view instance) {
  return FileNameOf(instance) + ".journal";
}

WorkerSession::WorkerSession(const Plan& plan, const std::vector<size_t>& rows,
                             const SuperviseOptions& options,
                             std::string instance, RawRecords* raw)
    : plan_(plan),
      options_(options),
      raw_(*raw),
      instance_(std::move(instance)),
      journal_(options.directory / JournalName(instance_)),
      reader_(journal_) {
  for (const size_t i : rows) {
    const PlanRow& row = plan.rows[i];
    if (row.backend == instance_) pending_.emplace(row.test_id, &row);
  }
}

void WorkerSession::Finish(const std::string& test_id) {
  if (pending_.erase(test_id) > 0) ++finished_;
  if (open_case_ == test_id) open_case_.clear();
  progressed_ = true;
}

Status WorkerSession::Start() {
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  ASSAY_RETURN_IF_ERROR(reader_.CutTornTail());
  open_case_.clear();  // of a run that was killed: the case runs again
  return pending_.empty() ? OkStatus() : StartWorker();
}

Status WorkerSession::StartWorker() {
  std::string batch = CsvHeader<PlanRow>();
  int count = 0;
  for (const auto& [test_id, row] : pending_) {
    if (count++ == options_.batch_size) break;
    AppendCsvRow(batch, *row);
  }
  const auto batch_file =
      options_.directory / (FileNameOf(instance_) + ".batch");
  ASSAY_RETURN_IF_ERROR(WriteFile(batch_file, batch));
  const RunFacts& facts = options_.facts;
  ASSAY_ASSIGN_OR_RETURN(
      worker_,
      WorkerProcess::Start(
          {options_.worker.string(), "--backend", instance_, "--module",
           plan_.Backend(instance_).module, "--batch", batch_file.string(),
           "--journal", journal_.string(), "--run-id", facts.run_id, "--seed",
           std::to_string(facts.seed), "--started-us",
           std::to_string(facts.started_us), "--parent",
           std::to_string(getpid())},
          options_.directory / (FileNameOf(instance_) + ".log")));
  progressed_ = false;
  overdue_ = false;
  opened_ = Clock::now();
  return OkStatus();
}

Status WorkerSession::Take(JournalEntry entry) {
  if (entry.kind == FrameKind::kBegin) {
    open_case_ = entry.text;
    opened_ = Clock::now();
  } else if (entry.kind == FrameKind::kRecord) {
    Finish(entry.record.result.test_id);
    opened_ = Clock::now();
  }
  return raw_.Add(std::move(entry));
}

Status WorkerSession::ReadJournal() {
  Status status;
  ASSAY_RETURN_IF_ERROR(reader_.Poll([&](JournalEntry entry) {
    const Status taken = Take(std::move(entry));
    if (status.ok() && !taken.ok())
      status = taken.WithContext(journal_.string());
  }));
  return status;
}

Status WorkerSession::RecordLoss(const std::string& test_id, Outcome outcome,
                                 Reason reason, std::string message) {
  const auto found = pending_.find(test_id);
  if (found == pending_.end()) {
    return Internal("the worker of ", instance_, " began ", test_id,
                    ", which is not in its batch");
  }
  Record record;
  record.result = ResultOf(*found->second, options_.facts);
  record.result.outcome = ToString(outcome);
  record.result.reason_code = ToString(reason);
  record.result.message = std::move(message);
  ASSAY_ASSIGN_OR_RETURN(Journal journal, Journal::Open(journal_));
  return journal.Append(record);  // read back by the next Poll
}

Status WorkerSession::EnforceTimeLimit() {
  const std::chrono::duration<double> open = Clock::now() - opened_;
  if (open.count() <= options_.timeout_s) return OkStatus();
  overdue_ = true;
  worker_->Kill();
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  ASSAY_RETURN_IF_ERROR(reader_.CutTornTail());
  // Its verdict may have come while it was being killed.
  if (open_case_.empty()) return OkStatus();
  return RecordLoss(
      open_case_, Outcome::kTimeout, Reason::kLimit,
      StrCat("over the time limit of ", options_.timeout_s, " s"));
}

Status WorkerSession::AfterWorker() {
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  ASSAY_RETURN_IF_ERROR(reader_.CutTornTail());
  const std::string how = worker_->HowItEnded();
  const bool by_signal = worker_->EndedBySignal();
  const auto log = options_.directory / (FileNameOf(instance_) + ".log");
  if (worker_->exit_code() == kHarnessExit) {
    return ResourceExhausted("the worker of ", instance_,
                             " could not go on; see ", log.string());
  }
  worker_.reset();
  const Outcome outcome = overdue_ ? Outcome::kTimeout : Outcome::kCrash;
  const Reason reason = overdue_    ? Reason::kLimit
                        : by_signal ? Reason::kSignal
                                    : Reason::kExit;
  const std::string what = how.empty() ? "exit code 0, too early" : how;
  if (!open_case_.empty()) {
    ASSAY_RETURN_IF_ERROR(RecordLoss(
        open_case_, Outcome::kCrash, reason,
        StrCat("the worker ended: ", what, "; see ", log.filename().string())));
  } else if (!progressed_) {
    // Not even one case was begun: the module cannot be loaded, and a further
    // worker would end in the same way.
    for (const auto& [test_id, row] : pending_) {
      ASSAY_RETURN_IF_ERROR(
          RecordLoss(test_id, outcome, reason,
                     StrCat("the worker ended before the first case: ", what)));
    }
  }
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  return pending_.empty() ? OkStatus() : StartWorker();
}

Status WorkerSession::Step() {
  if (worker_ == nullptr) return OkStatus();
  const bool ended = worker_->Ended();
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  if (ended) return AfterWorker();
  ASSAY_RETURN_IF_ERROR(EnforceTimeLimit());
  return OkStatus();
}

}  // namespace assay::inline v1
