// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/worker_session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "framework/testing/file/file.h"
#include "framework/testing/record/journal.h"
#include "framework/testing/record/tables.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

constexpr int kHarnessExit = 99;
// Cases that a worker is given at most. Each process goes past those that were
// run before it, so that few are better where it runs one.
int64_t BatchSize(int64_t cases_per_process) {
  return std::max(std::min<int64_t>(64 * cases_per_process, 1024),
                  cases_per_process);
}

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
  began_again_ = false;
}

Status WorkerSession::StartWorker() {
  std::string batch = CsvHeader<PlanRow>();
  int64_t count = 0;
  for (const PlanRow* row : order_) {
    if (!pending_.contains(row->test_id)) continue;
    if (count++ == BatchSize(options_.cases_per_process)) break;
    AppendCsvRow(batch, *row);
  }
  ASSAY_RETURN_IF_ERROR(WriteFile(File(".batch"), batch));
  // Workers write behind the name of the plan.
  ASSAY_RETURN_IF_ERROR(
      Journal::Open(File(".journal"), options_.plan_digest).status());
  const RunFacts& facts = options_.facts;
  std::vector<std::string> arguments = {
      options_.worker.string(),
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
      "--cases-per-process",
      std::to_string(options_.cases_per_process),
      "--timeout",
      std::to_string(options_.timeout_s),
      "--parent",
      std::to_string(getpid()),
      "--suite",
      facts.suite,
      "--output",
      facts.output.string()};
  ASSAY_ASSIGN_OR_RETURN(
      worker_, WorkerProcess::Start(arguments, File(".log"), options_.limits));
  pid_ = worker_->pid();
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
    pid_ = entry.pid;
    opened_ = Clock::now();
    began_us_ = SteadyMicroseconds();
  } else if (entry.kind == FrameKind::kRecord) {
    Finish(entry.record.result.test_id);
    opened_ = Clock::now();
  } else if (entry.kind == FrameKind::kBatchEnd) {
    through_ = true;
  } else if (entry.kind == FrameKind::kEnded) {
    return AfterChild(static_cast<int>(entry.status));
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
  record.result.outcome = outcome;
  record.result.reason_code = ToString(reason);
  record.result.message = std::move(message);
  record.result.worker = std::to_string(pid_);
  record.result.started_us = began_us_ - options_.facts.started_us;
  if (outcome == Outcome::kTimeout) {  // what the repro needs besides the case
    record.result.repro = StrCat(" --timeout ", options_.timeout_s);
  }
  return Write(std::move(record));
}

/// Of the backend as a whole: what no case can be blamed for.
Status WorkerSession::NoteLoss(Outcome outcome, Reason reason,
                               std::string message) {
  Record loss;
  loss.result.run_id = options_.facts.run_id;
  loss.result.backend = backend_.instance;
  loss.result.settings = backend_.settings_text;
  loss.result.outcome = outcome;
  loss.result.reason_code = ToString(reason);
  loss.result.message = std::move(message);
  return Write(std::move(loss));
}

/// Into a journal of our own, since a worker may be writing to its.
Status WorkerSession::Write(Record loss) {
  if (!losses_.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(
        losses_, Journal::Open(File(".losses.journal"), options_.plan_digest));
  }
  ASSAY_RETURN_IF_ERROR(losses_->Append(loss));
  const bool of_case = !loss.result.test_id.empty();
  if (of_case) Finish(loss.result.test_id);
  JournalEntry entry;
  entry.kind = of_case ? FrameKind::kRecord : FrameKind::kLoss;
  entry.record = std::move(loss);
  return raw_.Add(std::move(entry));
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

/// A forked child of the worker ended, other than by itself between two cases.
Status WorkerSession::AfterChild(int wait_status) {
  const Reason reason =
      WIFSIGNALED(wait_status) ? Reason::kSignal : Reason::kExit;
  const std::string how = DescribeEnd(wait_status);
  const std::string what = how.empty() ? "exit code 0, too early" : how;
  if (!open_case_.empty()) {
    return RecordLoss(
        open_case_, Outcome::kCrash, reason,
        StrCat("the worker ended: ", what, "; see ", stem_, ".log"));
  }
  return NoteLoss(
      Outcome::kCrash, reason,
      StrCat("the worker ended ",
             pending_.empty() ? "after its last case: " : "between two cases: ",
             what));
}

Status WorkerSession::AfterWorker() {
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  ASSAY_RETURN_IF_ERROR(reader_.CutTornTail());
  const int status = worker_->wait_status();
  worker_.reset();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kHarnessExit &&
      !CanWrite(options_.directory)) {
    return ResourceExhausted("the worker of ", backend_.instance,
                             " could not go on; see ", File(".log").string());
  }
  if (!progressed_ && open_case_.empty()) {
    // Not even one case was begun: the module cannot be loaded, and a further
    // worker would end in the same way, unless somebody else ended this one.
    const std::string how = DescribeEnd(status);
    const std::string what =
        StrCat("the worker ended before the first case: ",
               how.empty() ? "exit code 0, too early" : how);
    if (!overdue_ && !std::exchange(began_again_, true)) {
      ASSAY_RETURN_IF_ERROR(NoteLoss(
          Outcome::kCrash,
          WIFSIGNALED(status) ? Reason::kSignal : Reason::kExit, what));
      return StartWorker();
    }
    while (!pending_.empty()) {
      ASSAY_RETURN_IF_ERROR(
          RecordLoss(pending_.begin()->first,
                     overdue_ ? Outcome::kTimeout : Outcome::kCrash,
                     overdue_              ? Reason::kLimit
                     : WIFSIGNALED(status) ? Reason::kSignal
                                           : Reason::kExit,
                     what));
    }
    return OkStatus();
  }
  const bool ended_well = through_ && status == 0;
  if (overdue_ && !accounted_) {
    ASSAY_RETURN_IF_ERROR(NoteLoss(
        Outcome::kTimeout, Reason::kLimit,
        StrCat("the worker took more than ", options_.timeout_s, " s ",
               through_ || pending_.empty() ? "to end" : "between two cases")));
  } else if (!overdue_ && !ended_well) {
    ASSAY_RETURN_IF_ERROR(AfterChild(status));
  }
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
