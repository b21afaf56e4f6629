// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/worker_session.h"

#include <unistd.h>

#include <utility>

#include "framework/testing/file.h"
#include "framework/testing/tables.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

constexpr int kHarnessExit = 99;

/// Whether a journal can grow: of a full disk the worker's exit code alone is
/// no proof, since a backend may end it with any.
bool CanWrite(const fs::path& directory) {
  const fs::path probe = directory / "probe";
  const bool written = WriteFile(probe, std::string(1 << 16, '.')).ok();
  std::error_code ignored;
  fs::remove(probe, ignored);
  return written;
}

}  // namespace

WorkerSession::WorkerSession(const BackendUse& backend, int number,
                             const std::vector<const PlanRow*>& rows,
                             const SuperviseOptions& options, RawRecords* raw)
    : backend_(backend),
      options_(options),
      raw_(*raw),
      stem_(StrCat(FileNameOf(backend.instance), ".", number)),
      reader_(File(".journal")),
      order_(rows) {
  for (const PlanRow* row : rows) pending_.emplace(row->test_id, row);
}

fs::path WorkerSession::File(const char* extension) const {
  return options_.directory / (stem_ + extension);
}

void WorkerSession::Finish(const std::string& test_id) {
  if (pending_.erase(test_id) > 0) ++finished_;
  if (open_case_ == test_id) open_case_.clear();
  progressed_ = true;
}

Status WorkerSession::StartWorker() {
  std::string batch = CsvHeader<PlanRow>();
  int count = 0;
  for (const PlanRow* row : order_) {
    if (!pending_.contains(row->test_id)) continue;
    if (count++ == options_.batch_size) break;
    AppendCsvRow(batch, *row);
  }
  ASSAY_RETURN_IF_ERROR(WriteFile(File(".batch"), batch));
  const RunFacts& facts = options_.facts;
  ASSAY_ASSIGN_OR_RETURN(
      worker_, WorkerProcess::Start({options_.worker.string(),
                                     "--backend",
                                     backend_.instance,
                                     "--module",
                                     backend_.module,
                                     "--batch",
                                     File(".batch").string(),
                                     "--journal",
                                     File(".journal").string(),
                                     "--run-id",
                                     facts.run_id,
                                     "--seed",
                                     std::to_string(facts.seed),
                                     "--started-us",
                                     std::to_string(facts.started_us),
                                     "--attempt",
                                     std::to_string(facts.attempt),
                                     "--timeout",
                                     std::to_string(options_.timeout_s),
                                     "--parent",
                                     std::to_string(getpid())},
                                    File(".log"), options_.limits));
  lost_pid_ = worker_->pid();
  began_us_ = SteadyMicroseconds();
  progressed_ = false;
  through_ = false;
  accounted_ = false;
  overdue_ = false;
  opened_ = Clock::now();
  return OkStatus();
}

Status WorkerSession::Take(JournalEntry entry) {
  if (entry.kind == FrameKind::kBegin) {
    open_case_ = entry.text;
    opened_ = Clock::now();
    began_us_ = SteadyMicroseconds();
  } else if (entry.kind == FrameKind::kRecord) {
    Finish(entry.record.result.test_id);
    opened_ = Clock::now();
  } else if (entry.kind == FrameKind::kBatchEnd) {
    through_ = true;
  }
  return raw_.Add(std::move(entry));
}

Status WorkerSession::ReadJournal() {
  Status status;
  ASSAY_RETURN_IF_ERROR(reader_.Poll([&](JournalEntry entry) {
    const Status taken = Take(std::move(entry));
    if (status.ok() && !taken.ok())
      status = taken.WithContext(File(".journal").string());
  }));
  return status;
}

Status WorkerSession::RecordLoss(const std::string& test_id, Outcome outcome,
                                 Reason reason, std::string message) {
  const auto found = pending_.find(test_id);
  if (found == pending_.end()) {
    return Internal("the worker of ", backend_.instance, " began ", test_id,
                    ", which is not in its batch");
  }
  Record record;
  record.result = ResultOf(*found->second, options_.facts);
  record.result.outcome = ToString(outcome);
  record.result.reason_code = ToString(reason);
  record.result.message = std::move(message);
  record.result.worker = std::to_string(lost_pid_);
  record.result.started_us = began_us_ - options_.facts.started_us;
  ASSAY_ASSIGN_OR_RETURN(Journal journal, Journal::Open(File(".journal")));
  return journal.Append(record);  // read back by the next Poll
}

/// Of the backend as a whole: what no case can be blamed for.
Status WorkerSession::NoteLoss(Outcome outcome, Reason reason,
                               std::string message) {
  Record loss;
  loss.result.run_id = options_.facts.run_id;
  loss.result.backend = backend_.instance;
  loss.result.settings = backend_.settings_text;
  loss.result.outcome = ToString(outcome);
  loss.result.reason_code = ToString(reason);
  loss.result.message = std::move(message);
  ASSAY_ASSIGN_OR_RETURN(Journal journal, Journal::Open(File(".journal")));
  return journal.Append(loss);
}

Status WorkerSession::EnforceTimeLimit() {
  const std::chrono::duration<double> open = Clock::now() - opened_;
  if (open.count() <= options_.timeout_s) return OkStatus();
  overdue_ = true;
  accounted_ = !open_case_.empty();
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
  if (worker_->exit_code() == kHarnessExit && !CanWrite(options_.directory)) {
    return ResourceExhausted("the worker of ", backend_.instance,
                             " could not go on; see ", File(".log").string());
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
        StrCat("the worker ended: ", what, "; see ", stem_, ".log")));
  } else if (!progressed_) {
    // Not even one case was begun: the module cannot be loaded, and a further
    // worker would end in the same way.
    for (const auto& [test_id, row] : pending_) {
      ASSAY_RETURN_IF_ERROR(
          RecordLoss(test_id, outcome, reason,
                     StrCat("the worker ended before the first case: ", what)));
    }
  } else if (!accounted_ && (!through_ || !how.empty())) {
    ASSAY_RETURN_IF_ERROR(NoteLoss(
        outcome, reason,
        StrCat("the worker ended ",
               through_ ? "after its last case: " : "between two cases: ",
               overdue_ ? "it was over the time limit" : what)));
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
