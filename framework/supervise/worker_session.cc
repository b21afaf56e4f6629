// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/worker_session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "framework/file/file.h"
#include "framework/ranks/wait/wait_report.h"
#include "framework/supervise/oracle_cache.h"
#include "framework/supervise/process/process_tree.h"
#include "framework/supervise/process/tree_memory.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/record/tables.h"

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;

constexpr int kHarnessExit = 99;
// Cases that run over their time in a row before others are tried, and before
// no more are.
constexpr int kTriesInOrder = 3;
constexpr int kTries = 6;
constexpr std::chrono::milliseconds kWeighEvery(100);
constexpr int kWeighShare = 20;  // a look at the memory takes at most so much
// Processes that one worker forks at most, one after the other. Each goes past
// the cases that were run before it.
constexpr int64_t kProcesses = 64;

/// True when a journal can grow: of a full disk the worker's exit code alone is
/// no proof, since a backend may end it with any.
bool CanWrite(const fs::path& directory) {
  const fs::path probe = directory / "probe";
  const bool written = file::WriteFile(probe, std::string(1 << 16, '.')).ok();
  std::error_code ignored;
  fs::remove(probe, ignored);
  return written;
}

bool LiesIn(const fs::path& path, const fs::path& folder) {
  const auto parted = std::ranges::mismatch(folder, path);
  return parted.in1 == folder.end();
}

/// The folders that the process of a backend must not see or change.
walls::Walls WallsFor(const plan::BackendUse& backend,
                      const SuperviseOptions& options) {
  walls::Walls walls;
  const auto add = [](std::vector<std::string>* to, const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!error && fs::is_directory(real)) to->push_back(real.string());
  };
  std::error_code error;
  const fs::path module = fs::canonical(backend.module, error);
  for (const fs::path& folder : options.hidden) {
    if (!LiesIn(module, fs::weakly_canonical(folder, error))) {
      add(&walls.hidden, folder);
    }
  }
  // Whatever a run uses: a later one may use another.
  for (const fs::path& cache : OracleCaches()) {
    fs::create_directories(cache, error);
    add(&walls.hidden, cache);
  }
  add(&walls.hidden, options.directory);
  add(&walls.kept, options.worker.parent_path().parent_path());
  add(&walls.kept, module.parent_path());
  add(&walls.kept, backend.policy_dir);
  for (const fs::path& folder : options.kept) add(&walls.kept, folder);
  return walls;
}

/// "DIGEST PATH" lines for paths, a line each, without those of files that
/// cannot be read any more.
std::string DigestLines(const file::FileDigests& digests,
                        std::string_view paths) {
  std::string lines;
  while (!paths.empty()) {
    const std::string path(CutFront(&paths));
    const Result<std::string> digest = digests.Of(path);
    if (digest.ok()) lines += StrCat(*digest, " ", path, "\n");
  }
  return lines;
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
  progressed_ = true;
  began_again_ = false;
}

Result<std::vector<std::string>> WorkerSession::LaunchCommand(
    int64_t ranks) const {
  const plan::Launch& launch = backend_.launch;
  if (!launch.has_ranks()) return std::vector<std::string>();
  std::error_code ignored;  // of what other ranks left
  fs::remove_all(File(".scratch"), ignored);
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(File(".scratch")));
  return plan::CommandOf(launch, static_cast<int>(ranks), File(".scratch"));
}

/// To a worker of so many cases.
request::WorkerRequest WorkerSession::RequestFor(int64_t count) const {
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
      file::WriteFile(File(".request"), request::TextOf(RequestFor(count))));
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
  progressed_ = false;
  through_ = false;
  accounted_ = false;
  killed_.reset();
  opened_ = Clock::now();
  weigh_at_ = opened_ + kWeighEvery;
  return OkStatus();
}

Status WorkerSession::Take(journal::JournalEntry entry) {
  if (entry.kind == journal::FrameKind::kBegin) {
    open_case_ = entry.text;
    pid_ = entry.pid;
    opened_ = Clock::now();
    began_us_ = record::SteadyMicroseconds();
  } else if (entry.kind == journal::FrameKind::kRecord) {
    Finish(entry.record.result);
    opened_ = Clock::now();
    overdue_in_row_ = 0;
  } else if (entry.kind == journal::FrameKind::kBatchEnd) {
    through_ = true;
  } else if (entry.kind == journal::FrameKind::kFault) {
    return Internal("the worker of ", backend_.instance,
                    " is broken: ", entry.text);
  } else if (entry.kind == journal::FrameKind::kMapped) {
    return NoteFiles(entry.text);
  } else if (entry.kind == journal::FrameKind::kEnded) {
    return AfterChild(static_cast<int>(entry.status));
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
  if (read.code() == StatusCode::kDataLoss) broken_ = read;
  return read.ok() ? status : read;
}

/// Somebody wrote into the journal, or cut it. What was read of it is known; the
/// cases that are left are run by a new worker, the one that was open among them,
/// unless it was open the last time, too.
Status WorkerSession::AfterBrokenJournal() {
  const Status fault = std::exchange(broken_, OkStatus());
  if (open_case_.empty() && !progressed_) return fault;
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
  return pending_.empty() ? OkStatus() : StartWorker();
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
  if (outcome ==
      record::Outcome::kTimeout) {  // what the repro needs besides the case
    record.result.repro = StrCat(" --timeout ", options_.timeout_s);
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
      StrCat(backend_.instance, "\n", DigestLines(*options_.digests, paths));
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
  ASSAY_RETURN_IF_ERROR(journal->Digests(files));
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

/// Who of its ranks waits for whom, behind another text; empty where none is in a call.
std::string WorkerSession::WaitText() const {
  const std::string text =
      ranks::ReportIn(File(".scratch"), record::SteadyMicroseconds());
  return text.empty() ? text : StrCat("; ", text);
}

Status WorkerSession::KillFor(record::Outcome outcome, std::string why,
                              const std::string& of_case) {
  killed_ = {outcome, std::move(why)};
  accounted_ = !open_case_.empty();
  worker_->Kill();
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  ASSAY_RETURN_IF_ERROR(reader_.CutTornTail());
  // Its verdict may have come while it was being killed.
  if (open_case_.empty()) return OkStatus();
  overdue_in_row_ += outcome == record::Outcome::kTimeout ? 1 : 0;
  return RecordLoss(open_case_, outcome, Reason::kLimit, of_case + WaitText());
}

Status WorkerSession::EnforceTimeLimit() {
  const std::chrono::duration<double> open = Clock::now() - opened_;
  if (open.count() <= options_.timeout_s) return OkStatus();
  return KillFor(record::Outcome::kTimeout,
                 StrCat("took more than ", options_.timeout_s, " s"),
                 StrCat("over the time limit of ", options_.timeout_s, " s"));
}

Status WorkerSession::EnforceMemoryLimit() {
  const int64_t limit = process::TreeLimit(options_.limits);
  const Clock::time_point now = Clock::now();
  if (limit == 0 || now < weigh_at_) return OkStatus();
  const int64_t used =
      process::TreeMemory(process::ProcessTree::Members(worker_->pid()), limit);
  const Clock::time_point then = Clock::now();
  weigh_at_ =
      then + std::max<Clock::duration>(kWeighEvery, kWeighShare * (then - now));
  if (used <= limit) return OkStatus();
  return KillFor(record::Outcome::kCrash,
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

/// A forked child of the worker ended, other than by itself between two cases.
Status WorkerSession::AfterChild(int wait_status) {
  const Reason reason =
      WIFSIGNALED(wait_status) ? Reason::kSignal : Reason::kExit;
  const std::string how = process::DescribeEnd(wait_status);
  const std::string what = how.empty() ? "exit code 0, too early" : how;
  if (!open_case_.empty()) {
    return RecordLoss(open_case_, record::Outcome::kCrash, reason,
                      StrCat("the worker ended: ", what, "; see ",
                             LogNames(backend_.launch, stem_), WaitText()));
  }
  return NoteLoss(
      record::Outcome::kCrash, reason,
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
  if (!progressed_ && open_case_.empty()) return AfterNoCase(status);
  const bool ended_well = through_ && status == 0;
  if (killed_ && !accounted_) {
    const bool at_end = through_ || pending_.empty();
    ASSAY_RETURN_IF_ERROR(
        NoteLoss(killed_->outcome, Reason::kLimit,
                 StrCat("the worker ", killed_->why,
                        at_end ? " to end" : " between two cases")));
  } else if (!killed_ && !ended_well) {
    ASSAY_RETURN_IF_ERROR(AfterChild(status));
  }
  if (overdue_in_row_ >= kTries) return GiveUp();
  // Others may be quicker.
  if (overdue_in_row_ == kTriesInOrder) std::ranges::reverse(order_);
  return pending_.empty() ? OkStatus() : StartWorker();
}

/// Not even one case was begun: the module cannot be loaded, and a further
/// worker would end in the same way, unless somebody else ended this one.
Status WorkerSession::AfterNoCase(int wait_status) {
  const std::string how = process::DescribeEnd(wait_status);
  const std::string what =
      killed_ ? StrCat("the worker ", killed_->why, " before the first case")
              : StrCat("the worker ended before the first case: ",
                       how.empty() ? "exit code 0, too early" : how);
  const Reason reason = killed_                    ? Reason::kLimit
                        : WIFSIGNALED(wait_status) ? Reason::kSignal
                                                   : Reason::kExit;
  if (!killed_ && !std::exchange(began_again_, true)) {
    ASSAY_RETURN_IF_ERROR(NoteLoss(record::Outcome::kCrash, reason, what));
    return StartWorker();
  }
  // A limit would pass again for each case that is repeated.
  if (killed_) pid_ = 0;
  while (!pending_.empty()) {
    ASSAY_RETURN_IF_ERROR(RecordLoss(
        pending_.begin()->first,
        killed_ ? killed_->outcome : record::Outcome::kCrash, reason, what));
  }
  return OkStatus();
}

Status WorkerSession::Step() {
  if (worker_ == nullptr) return OkStatus();
  const Status seen = Look();
  return broken_.ok() ? seen : AfterBrokenJournal();
}

Status WorkerSession::Look() {
  const bool ended = worker_->Ended();
  ASSAY_RETURN_IF_ERROR(ReadJournal());
  if (ended) return AfterWorker();
  ASSAY_RETURN_IF_ERROR(EnforceTimeLimit());
  return killed_ ? OkStatus() : EnforceMemoryLimit();
}

}  // namespace assay::supervise
