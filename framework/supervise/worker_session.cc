// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/worker_session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/ranks/wait/wait_report.h"
#include "framework/supervise/process/process_tree.h"
#include "framework/testing/record/tables.h"

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;
using session::Action;
using session::Event;
using session::State;

constexpr int kHarnessExit = 99;
// Cases that run over their time in a row before others are tried, or none.
constexpr int kTriesInOrder = 3;
constexpr int kTries = 6;  // then no more are
constexpr std::chrono::milliseconds kWeighEvery(100);
constexpr int kWeighShare = 20;  // a look at the memory takes at most so much
// Processes that one worker forks at most, one after the other. Each goes past
// the cases that were run before it.
constexpr int64_t kProcesses = 64;

constexpr char kNoCase[] = "the worker ended before the first case: ";

Reason ReasonOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? Reason::kSignal : Reason::kExit;
}

/// True when a journal can grow: of a full disk the worker's exit code alone is
/// no proof, since a backend may end it with any.
bool CanWrite(const fs::path& directory) {
  const fs::path probe = directory / "probe";
  const bool written = file::WriteFile(probe, std::string(1 << 16, '.')).ok();
  std::error_code ignored;
  fs::remove(probe, ignored);
  return written;
}

}  // namespace

WorkerSession::WorkerSession(const plan::BackendUse& backend, int number,
                             const std::vector<const record::PlanRow*>& rows,
                             const SuperviseOptions& options,
                             verdict::RawRecords* raw)
    : backend_(backend),
      options_(options),
      raw_(*raw),
      stem_(StrCat(plan::FileNameOf(backend.instance), ".", number)),
      reader_(File(".journal")),
      log_(File(".log")),
      order_(rows) {
  for (const record::PlanRow* row : rows) pending_.emplace(row->test_id, row);
}

WorkerSession::~WorkerSession() {
  worker_.reset();
  std::error_code ignored;
  if (backend_.launch.has_ranks()) fs::remove_all(File(".scratch"), ignored);
}

fs::path WorkerSession::File(const char* extension) const {
  return options_.directory / (stem_ + extension);
}

void WorkerSession::Finish(const record::ResultRow& result) {
  const auto found = pending_.find(result.test_id);
  if (found != pending_.end()) {
    const record::ResultRow final = verdict::Finalize(*found->second, result);
    unexpected_ += record::IsUnexpected(final.outcome) ? 1 : 0;
    pending_.erase(found);
    ++finished_;
  }
  if (open_case_ == result.test_id) open_case_.clear();
}

Result<std::vector<std::string>> WorkerSession::LaunchCommand(
    int64_t ranks) const {
  const plan::Launch& launch = backend_.launch;
  if (!launch.has_ranks()) return std::vector<std::string>();
  std::error_code ignored;  // of what other ranks left
  fs::remove_all(File(".scratch"), ignored);
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(File(".scratch")));
  // A launcher may have a working directory of its own.
  return plan::CommandOf(launch, static_cast<int>(ranks),
                         fs::absolute(File(".scratch")));
}

/// To a worker of so many cases.
request::WorkerRequest WorkerSession::RequestOf(int64_t count) const {
  const plan::Launch& launch = backend_.launch;
  const bool is_launched = !launch.launcher.empty();
  request::WorkerRequest wanted;
  wanted.backend = backend_.instance;
  wanted.module = backend_.module;
  wanted.carrier = backend_.carrier_module;
  wanted.batch = File(".batch");
  wanted.journal = File(".journal");
  wanted.facts = options_.facts;
  wanted.facts.case_limit_s = options_.timeout_s;
  if (launch.has_ranks()) wanted.facts.scratch = File(".scratch");
  wanted.parent = is_launched ? 0 : getpid();
  wanted.rank_variable = launch.rank;
  wanted.cases_per_process = is_launched ? count : options_.cases_per_process;
  // Ranks are where their library is.
  wanted.in_process = options_.in_process || launch.has_ranks();
  if (!wanted.in_process) wanted.walls = WallsFor(backend_, options_);
  return wanted;
}

Status WorkerSession::StartWorker() {
  std::string batch = record::CsvHeader<record::PlanRow>();
  int64_t count = 0;
  int64_t ranks = 0;
  for (const record::PlanRow* row : order_) {
    if (!pending_.contains(row->test_id)) continue;
    if (count++ == kProcesses * options_.cases_per_process) break;
    record::AppendCsvRow(batch, *row);
    ranks = std::max(ranks, row->ranks);
  }
  ASSAY_RETURN_IF_ERROR(file::WriteFile(File(".batch"), batch));
  ASSAY_RETURN_IF_ERROR(
      file::WriteFile(File(".request"), request::TextOf(RequestOf(count))));
  // Workers write behind the name of the plan.
  ASSAY_RETURN_IF_ERROR(
      journal::Journal::Open(File(".journal"), options_.plan_digest).status());
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> arguments,
                         LaunchCommand(ranks));
  arguments.insert(arguments.end(),
                   {options_.worker.string(), File(".request").string()});
  ASSAY_ASSIGN_OR_RETURN(
      worker_,
      process::WorkerProcess::Start(arguments, File(".log"), options_.limits));
  pid_ = worker_->pid();
  began_us_ = record::SteadyMicroseconds();
  if (state_ == State::kGone) state_ = State::kStarting;
  over_ = {};
  opened_ = Clock::now();
  weigh_at_ = opened_ + kWeighEvery;
  return OkStatus();
}

/// The one place in which the state changes.
Status WorkerSession::On(Event event) {
  const session::Transition* const row = session::TransitionOf(state_, event);
  if (row == nullptr) {
    return Internal("the session of ", backend_.instance, " has no row for ",
                    static_cast<int>(event), " in ", static_cast<int>(state_));
  }
  if (row->next != State::kAny) state_ = row->next;
  switch (row->action) {
    case Action::kNone:
      return OkStatus();
    case Action::kKill:
      return Kill();
    case Action::kChargeEnd:
      return ChargeEnd();
    case Action::kChargeLimit:
      return ChargeLimit();
    case Action::kNoteEnd:
      return NoteEnd();
    case Action::kNoteLimit:
      return NoteLimit();
    case Action::kTryAgain:
      return TryAgain();
    case Action::kLoseAll:
      return LoseAll();
    case Action::kMend:
      return Mend();
    case Action::kFail:
      break;
  }
  return fault_;
}

Status WorkerSession::Take(journal::JournalEntry entry) {
  switch (entry.kind) {
    case journal::FrameKind::kBegin:
      open_case_ = entry.text;
      pid_ = entry.pid;
      opened_ = Clock::now();
      began_us_ = record::SteadyMicroseconds();
      ASSAY_RETURN_IF_ERROR(On(Event::kBegun));
      break;
    case journal::FrameKind::kRecord:
      Finish(entry.record.result);
      opened_ = Clock::now();
      overdue_in_row_ = 0;
      if (open_case_.empty()) ASSAY_RETURN_IF_ERROR(On(Event::kVerdict));
      break;
    case journal::FrameKind::kBatchEnd:
      ASSAY_RETURN_IF_ERROR(On(Event::kBatchEnd));
      break;
    case journal::FrameKind::kMapped:
      return NoteFiles(entry.text);
    case journal::FrameKind::kEnded:
      end_ = static_cast<int>(entry.status);
      asked_ = entry.text;
      return On(Event::kChildEnded);
    case journal::FrameKind::kFault:
      fault_ = Internal("the worker of ", backend_.instance,
                        " is broken: ", entry.text);
      return On(Event::kFault);
    default:
      break;
  }
  return raw_.Add(std::move(entry));
}

Status WorkerSession::ReadJournal() {
  Status status;
  const Status read = reader_.Poll([&](journal::JournalEntry entry) {
    const Status taken = Take(std::move(entry));
    if (status.ok() && !taken.ok())
      status = taken.WithContext(File(".journal").string());
  });
  if (read.code() == StatusCode::kDataLoss) fault_ = read;
  return read.ok() ? status : read;
}

/// Goes on after somebody wrote into the journal, or cut it. The records that
/// were read of it are known; a new worker runs the cases that are left, the
/// one that was open among them, unless it was open the last time, too.
Status WorkerSession::Mend() {
  const Status fault = std::exchange(fault_, OkStatus());
  if (worker_ != nullptr) worker_->Kill();
  worker_.reset();
  ASSAY_RETURN_IF_ERROR(journal::RecoverJournal(File(".journal")).status());
  reader_ = journal::JournalReader(File(".journal"));
  // All of it was taken already.
  ASSAY_RETURN_IF_ERROR(reader_.Poll([](const journal::JournalEntry&) {}));
  ASSAY_RETURN_IF_ERROR(NoteLoss(
      record::Outcome::kError, Reason::kStateChanged,
      StrCat("the journal of a worker was broken: ", fault.message())));
  if (const std::string at = std::exchange(broken_at_, open_case_);
      !at.empty() && at == open_case_) {
    ASSAY_RETURN_IF_ERROR(
        RecordLoss(at, record::Outcome::kError, Reason::kStateChanged,
                   "the journal of its worker was broken twice at this case"));
  }
  open_case_.clear();
  return OkStatus();
}

Status WorkerSession::RecordLoss(const std::string& test_id,
                                 record::Outcome outcome, Reason reason,
                                 std::string message) {
  const auto found = pending_.find(test_id);
  if (found == pending_.end()) {
    return Internal("the worker of ", backend_.instance, " began ", test_id,
                    ", which is not in its batch");
  }
  record::Record record;
  record.result = record::ResultOf(*found->second, options_.facts);
  record.result.outcome = outcome;
  record.result.reason_code = ToString(reason);
  record.result.message = std::move(message);
  record.result.worker = pid_ == 0 ? "" : std::to_string(pid_);
  record.result.started_us = began_us_ - options_.facts.started_us;
  if (reason == Reason::kLimit) {  // what the repro needs besides the case
    const auto bytes = static_cast<double>(options_.limits.memory_bytes);
    record.result.repro =
        outcome == record::Outcome::kTimeout
            ? StrCat(" --timeout ", options_.timeout_s)
            : StrCat(" --memory ", file::ToText(bytes / (1 << 30)));
  }
  return Write(std::move(record));
}

/// Notes a loss of the backend as a whole, for which no case can be blamed.
Status WorkerSession::NoteLoss(record::Outcome outcome, Reason reason,
                               std::string message) {
  record::Record loss;
  loss.result.run_id = options_.facts.run_id;
  loss.result.backend = backend_.instance;
  loss.result.settings = backend_.settings_text;
  loss.result.outcome = outcome;
  loss.result.reason_code = ToString(reason);
  loss.result.message = std::move(message);
  return Write(std::move(loss));
}

/// A journal of our own, since a worker may be writing to its.
Result<journal::Journal*> WorkerSession::OwnJournal() {
  if (!own_.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(own_, journal::Journal::Open(File(".losses.journal"),
                                                        options_.plan_digest));
  }
  return &*own_;
}

/// The digests of what a worker runs, when they are not those of the last one.
Status WorkerSession::NoteFiles(std::string_view paths) {
  std::string files =
      StrCat(backend_.instance, "\n", options_.digests->LinesOf(paths));
  if (files == std::exchange(files_, files)) return OkStatus();
  std::error_code error;
  const size_t module = files.find(
      StrCat(" ", fs::canonical(backend_.module, error).string(), "\n"));
  const size_t size = backend_.module_sha256.size();
  if (module != std::string::npos && module >= size &&
      files.substr(module - size, size) != backend_.module_sha256) {
    return FailedPrecondition(backend_.module,
                              " was replaced since it was planned with: run "
                              "again");
  }
  ASSAY_ASSIGN_OR_RETURN(journal::Journal * journal, OwnJournal());
  ASSAY_RETURN_IF_ERROR(journal->Write(journal::FrameKind::kDigests, files));
  journal::JournalEntry entry;
  entry.kind = journal::FrameKind::kDigests;
  entry.text = std::move(files);
  return raw_.Add(std::move(entry));
}

Status WorkerSession::Write(record::Record loss) {
  ASSAY_ASSIGN_OR_RETURN(journal::Journal * journal, OwnJournal());
  ASSAY_RETURN_IF_ERROR(journal->Append(loss));
  const bool of_case = !loss.result.test_id.empty();
  if (of_case) Finish(loss.result);
  journal::JournalEntry entry;
  entry.kind =
      of_case ? journal::FrameKind::kRecord : journal::FrameKind::kLoss;
  entry.record = std::move(loss);
  return raw_.Add(std::move(entry));
}

/// Who of its ranks waits for whom, behind another text; empty where none is in
/// a call.
std::string WorkerSession::WaitText() const {
  const std::string text =
      ranks::ReportIn(File(".scratch"), record::SteadyMicroseconds());
  return text.empty() ? text : StrCat("; ", text);
}

/// Its verdict may come while it is being killed.
Status WorkerSession::Kill() {
  worker_->Kill();
  return ReadJournal();
}

Status WorkerSession::ChargeLimit() {
  overdue_in_row_ += over_.outcome == record::Outcome::kTimeout ? 1 : 0;
  return RecordLoss(open_case_, over_.outcome, Reason::kLimit,
                    over_.of_case + WaitText());
}

Status WorkerSession::NoteLimit() {
  return NoteLoss(
      over_.outcome, Reason::kLimit,
      StrCat("the worker ", over_.why,
             over_.is_through || pending_.empty() ? " to end"
                                                  : " between two cases"));
}

Status WorkerSession::GoOver(record::Outcome outcome, std::string why,
                             std::string of_case) {
  over_ = {outcome, std::move(why), std::move(of_case),
           state_ == State::kThrough};
  return On(Event::kOverLimit);
}

Status WorkerSession::EnforceTimeLimit() {
  const std::chrono::duration<double> open = Clock::now() - opened_;
  if (open.count() <= options_.timeout_s) return OkStatus();
  return GoOver(record::Outcome::kTimeout,
                StrCat("took more than ", options_.timeout_s, " s"),
                StrCat("over the time limit of ", options_.timeout_s, " s"));
}

Status WorkerSession::EnforceMemoryLimit() {
  const int64_t limit = process::TreeLimit(options_.limits);
  const Clock::time_point now = Clock::now();
  if (limit == 0 || now < weigh_at_) return OkStatus();
  int64_t used = process::MachineMemory();
  if (used > limit) {
    used = process::TreeMemory(process::ProcessTree::Members(worker_->pid()),
                               limit);
  }
  const Clock::time_point then = Clock::now();
  weigh_at_ =
      then + std::max<Clock::duration>(kWeighEvery, kWeighShare * (then - now));
  if (used <= limit) return OkStatus();
  return GoOver(record::Outcome::kCrash,
                StrCat("took more than ", limit >> 20, " MiB"),
                StrCat("over the memory limit of ", limit >> 20,
                       " MiB with all that it started"));
}

/// The cases that were tried say enough, and each further one would cost a
/// whole time limit.
Status WorkerSession::GiveUp() {
  pid_ = 0;
  while (!pending_.empty()) {
    ASSAY_RETURN_IF_ERROR(RecordLoss(
        pending_.begin()->first, record::Outcome::kTimeout, Reason::kLimit,
        StrCat("not run: ", kTries,
               " cases in a row were over the time limit of ",
               options_.timeout_s, " s")));
  }
  return OkStatus();
}

/// How the worker or its child ended, other than by itself between two cases,
/// and where.
std::string WorkerSession::EndText() {
  const std::string how = process::DescribeEnd(end_);
  return StrCat(
      how.empty() ? "exit code 0, too early" : how,
      process::TextOf(log_.Take(end_), std::exchange(asked_, std::string())));
}

Status WorkerSession::ChargeEnd() {
  const bool told = !backend_.launch.launcher.empty() || !log_.IsEmpty();
  return RecordLoss(
      open_case_, record::Outcome::kCrash, ReasonOf(end_),
      StrCat("the worker ended: ", EndText(), told ? "; see " : "",
             told ? LogNames(backend_.launch, stem_) : "", WaitText()));
}

Status WorkerSession::NoteEnd() {
  return NoteLoss(
      record::Outcome::kCrash, ReasonOf(end_),
      StrCat("the worker ended ",
             pending_.empty() ? "after its last case: " : "between two cases: ",
             EndText()));
}

/// Not even one case was begun: the module cannot be loaded, and a further
/// worker would end in the same way, unless somebody else ended this one.
Status WorkerSession::TryAgain() {
  ASSAY_RETURN_IF_ERROR(NoteLoss(record::Outcome::kCrash, ReasonOf(end_),
                                 StrCat(kNoCase, EndText())));
  return StartWorker();
}

Status WorkerSession::LoseAll() {
  const bool is_over = !over_.why.empty();
  const std::string what =
      is_over ? StrCat("the worker ", over_.why, " before the first case")
              : StrCat(kNoCase, EndText());
  // A limit would pass again for each case that is repeated.
  if (is_over) pid_ = 0;
  while (!pending_.empty()) {
    ASSAY_RETURN_IF_ERROR(
        RecordLoss(pending_.begin()->first,
                   is_over ? over_.outcome : record::Outcome::kCrash,
                   is_over ? Reason::kLimit : ReasonOf(end_), what));
  }
  return OkStatus();
}

Status WorkerSession::AfterWorker() {
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  ASSAY_RETURN_IF_ERROR(reader_.CutTornTail());
  end_ = worker_->wait_status();
  worker_.reset();
  if (WIFEXITED(end_) && WEXITSTATUS(end_) == kHarnessExit &&
      !CanWrite(options_.directory)) {
    return ResourceExhausted("the worker of ", backend_.instance,
                             " could not go on; see ", File(".log").string());
  }
  return On(end_ == 0 ? Event::kEndedWell : Event::kEnded);
}

/// With the cases that are left.
Status WorkerSession::GoOn() {
  if (overdue_in_row_ >= kTries) return GiveUp();
  // Others may be quicker.
  if (overdue_in_row_ == kTriesInOrder) std::ranges::reverse(order_);
  return pending_.empty() ? OkStatus() : StartWorker();
}

Status WorkerSession::Step() {
  if (state_ == State::kGone) return OkStatus();
  Status seen = Look();
  if (fault_.code() == StatusCode::kDataLoss) seen = On(Event::kBroken);
  ASSAY_RETURN_IF_ERROR(seen);
  return state_ == State::kGone ? GoOn() : OkStatus();
}

Status WorkerSession::Look() {
  const bool ended = worker_->Ended();
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  if (ended) return AfterWorker();
  ASSAY_RETURN_IF_ERROR(EnforceTimeLimit());
  return worker_->Ended() ? OkStatus() : EnforceMemoryLimit();
}

}  // namespace assay::supervise
