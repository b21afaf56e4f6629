// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <thread>

#include "framework/cli/commands.h"
#include "framework/cli/repro/capsule.h"
#include "framework/cli/run/finish.h"
#include "framework/cli/run/run_text.h"
#include "framework/cli/select/environment.h"
#include "framework/cli/select/terminal.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/meanwhile.h"
#include "framework/supervise/oracle.h"
#include "framework/supervise/supervisor.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBatch = 1024;
int64_t CasesPerProcess(const std::string& isolation, size_t n_rows) {
  if (isolation == "case") return 1;
  if (isolation == "none") return static_cast<int64_t>(n_rows);
  return kBatch;
}

/// One per processor, or one alone where a case is timed.
int JobsFor(const plan::Plan& plan, const std::vector<size_t>& rows) {
  const bool is_timed = std::ranges::any_of(
      rows, [&](size_t i) { return suite::RunsAlone(plan.rows[i]); });
  if (is_timed) return 1;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

supervise::SuperviseOptions SupervisionOf(
    const cli::RunOptions& options, const plan::Plan& plan,
    const std::vector<size_t>& rows, const std::string& run_id,
    const fs::path& directory,
    std::shared_ptr<const file::FileDigests> digests) {
  supervise::SuperviseOptions supervise;
  supervise.digests = std::move(digests);
  supervise.worker = file::InstallPrefix() / "bin" / "assay-worker";
  supervise.directory = directory;
  supervise.facts.run_id = run_id;
  supervise.facts.seed = plan.selection.seed;
  supervise.facts.started_us = record::SteadyMicroseconds();
  supervise.timeout_s = options.timeout_s;
  supervise.facts.time_budget_s = options.time_budget_s;
  supervise.jobs = options.jobs > 0 ? options.jobs : JobsFor(plan, rows);
  supervise.limits.memory_bytes =
      options.memory_gib > 0
          ? static_cast<int64_t>(options.memory_gib *
                                 static_cast<double>(1 << 30))
          : process::MemoryShare(supervise.jobs);
  supervise.cases_per_process = CasesPerProcess(options.isolation, rows.size());
  supervise.deal = options.isolation != "none";
  supervise.in_process = plan.selection.host == plan::kInProcess;
  for (const plan::CorpusUse& corpus : plan.corpora) {
    supervise.hidden.emplace_back(corpus.directory);
  }
  if (!options.oracle_cache.empty()) {
    supervise.hidden.push_back(options.oracle_cache);
  }
  supervise.kept = {directory.parent_path(), SharedPath("reports"),
                    SharedPath("venv")};
  supervise.shuffle = options.shuffle;
  supervise.most_repeated = options.repeats;
  supervise.attempts = options.attempts;
  return supervise;
}

Result<plan::PartSelection> ParseShard(const cli::RunOptions& options) {
  const size_t slash = options.shard.find('/');
  const auto shard = file::ParseInt(options.shard.substr(0, slash));
  const auto n_shards = slash == std::string::npos
                            ? std::nullopt
                            : file::ParseInt(options.shard.substr(slash + 1));
  if (!shard || !n_shards || *shard < 1 || *shard > *n_shards ||
      *n_shards > 10000) {
    return InvalidArgument("found the shard '", options.shard,
                           "', wanted I/N with 1 <= I <= N");
  }
  return plan::PartSelection{options.selection.suites, options.backends,
                             static_cast<int>(*shard),
                             static_cast<int>(*n_shards)};
}

Status SuperviseShown(const plan::Plan& plan, const std::vector<size_t>& rows,
                      supervise::SuperviseOptions options,
                      verdict::RawRecords* raw) {
  options.progress = ShownProgress();
  return supervise::Supervise(plan, rows, options, raw);
}

/// The oracle of a run that names none, for the cases that cannot be judged
/// without one.
constexpr char kUsualOracle[] = "reference";

/// Says which oracle judges beside the backends, has the exact answers computed
/// that are not there, and says in oracle.csv what became of the cases that
/// were asked about: all of them where an oracle is named, else those that are
/// judged by the answers.
Status AnswerExactly(const cli::RunOptions& options,
                     const std::vector<size_t>& rows, const fs::path& folder,
                     supervise::SuperviseOptions* supervise, plan::Plan* plan) {
  const bool is_named = !plan->selection.oracle.empty();
  const std::string oracle = is_named ? plan->selection.oracle : kUsualOracle;
  ASSAY_RETURN_IF_ERROR(supervise::UseOracle(oracle, *plan, rows, supervise));
  std::vector<size_t> asked = rows;
  if (!is_named) {
    std::erase_if(
        asked, [&](size_t i) { return !suite::NeedsAnswers(plan->rows[i]); });
  }
  if (asked.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const supervise::OracleReport report,
                         supervise::AskOracle(oracle, options.oracle_cache,
                                              *supervise, asked, plan));
  OutputFor(options.json) << report.Sentence()
                          << (report.asked.empty() ? "\n"
                                                   : "; see oracle.csv\n");
  return file::WriteFile(folder / "oracle.csv", record::ToCsv(report.asked));
}

Result<int> RunPart(const cli::RunOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(plan::Plan plan, plan::ReadPlan(options.plan));
  if (const std::string& oracle = options.selection.oracle; !oracle.empty()) {
    plan.selection.oracle = oracle;
  }
  ASSAY_ASSIGN_OR_RETURN(const plan::PartSelection part, ParseShard(options));
  const std::vector<size_t> rows = plan::RowsOf(plan, part);
  if (rows.empty()) {
    return InvalidArgument("the selection is empty: the plan has no case for ",
                           part.Name());
  }
  const auto digests = std::make_shared<const file::FileDigests>();
  ASSAY_RETURN_IF_ERROR(select::CheckPlanned(plan, rows, *digests));
  const fs::path directory = options.parts / part.Name();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  ASSAY_ASSIGN_OR_RETURN(const file::FolderLock lock,
                         file::FolderLock::Take(directory));
  std::error_code error;
  for (const auto& old : fs::directory_iterator(directory, error)) {
    fs::remove_all(old.path(), error);
  }
  ASSAY_RETURN_IF_ERROR(
      plan::WritePart({part, plan::DigestOf(plan, rows)}, directory));
  supervise::SuperviseOptions supervise =
      SupervisionOf(options, plan, rows, part.Name(), directory, digests);
  ASSAY_RETURN_IF_ERROR(
      AnswerExactly(options, rows, directory, &supervise, &plan));
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(SuperviseShown(plan, rows, supervise, &raw));
  const verdict::Verdicts verdicts = verdict::Assess(
      plan, rows, std::move(raw),
      {.whole = false, .allow_unavailable = options.allow_unavailable});
  for (const verdict::Tally& tally : verdicts.tallies) {
    std::cout << tally.backend << " on " << tally.corpus << ": "
              << tally.Equation() << "\n";
  }
  std::cout << UnavailableText(verdicts)
            << UnexpectedText(verdicts, select::ColoursOf(STDOUT_FILENO));
  return verdicts.ExitCode();
}

/// The plan of a new run, or of one to go on with, and its folder, which no
/// other process writes to meanwhile.
struct Opened {
  file::FolderLock lock;
  plan::Plan plan;
  record::RunRow run;
  std::vector<record::EnvRow> env;
  fs::path folder;
  std::future<select::Commit> commit;  // which git tells meanwhile
};

/// A run to go on with. Says of each journal whose tail was no record how much
/// of it was cut; those cases run again.
Status Reopen(const fs::path& folder, const file::FileDigests& digests,
              Opened* opened) {
  ASSAY_ASSIGN_OR_RETURN(opened->plan, plan::ReadPlan(folder));
  ASSAY_ASSIGN_OR_RETURN(opened->lock, file::FolderLock::Take(folder));
  ASSAY_RETURN_IF_ERROR(select::CheckPlanned(
      opened->plan, plan::RowsOf(opened->plan, {}), digests));
  for (const fs::path& journal : verdict::JournalsIn(folder / "records")) {
    ASSAY_ASSIGN_OR_RETURN(const int64_t cut, journal::RecoverJournal(journal));
    if (cut > 0) {
      std::cerr << "assay: " << journal.string() << ": cut " << cut
                << " bytes at its end that are no record\n";
    }
  }
  opened->folder = folder;
  return OkStatus();
}

/// The folder of a new run holds no other one, nor what is left of it.
Status CheckNew(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "plan.json", error)) {
    return InvalidArgument(folder.string(),
                           " holds a run already; name another --out, or go on "
                           "with --resume");
  }
  const fs::path records = folder / "records";
  if (fs::exists(records, error) && !fs::is_empty(records, error)) {
    return InvalidArgument(records.string(),
                           " holds the records of another run; remove it, or "
                           "name another --out");
  }
  return OkStatus();
}

Result<Opened> Open(const cli::RunOptions& options,
                    const file::FileDigests& digests) {
  Opened opened;
  opened.commit = select::AskCommit();
  opened.env = select::EnvironmentRows();
  if (!options.resume.empty()) {
    ASSAY_RETURN_IF_ERROR(Reopen(options.resume, digests, &opened));
    if (const std::string& oracle = options.selection.oracle; !oracle.empty()) {
      opened.plan.selection.oracle = oracle;
    }
    opened.run = select::BeginRun(opened.plan, opened.env, {});
    return opened;
  }
  select::SelectionOptions selection = options;
  if (!options.out.empty()) selection.made = options.out / "model";
  ASSAY_ASSIGN_OR_RETURN(opened.plan, select::PlanOf(selection, digests));
  opened.run = select::BeginRun(opened.plan, opened.env, {});
  opened.folder =
      options.out.empty() ? fs::path("runs") / opened.run.run_id : options.out;
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(opened.folder));
  ASSAY_ASSIGN_OR_RETURN(opened.lock, file::FolderLock::Take(opened.folder));
  ASSAY_RETURN_IF_ERROR(CheckNew(opened.folder));
  ASSAY_RETURN_IF_ERROR(plan::WritePlan(opened.plan, opened.folder));
  return opened;
}

/// The same failure, with how to go on where that can be.
Status Resumable(const fs::path& folder, const Status& failure) {
  if (!plan::ReadPlan(folder).ok() || failure.code() == StatusCode::kDataLoss ||
      failure.code() == StatusCode::kFailedPrecondition) {
    return failure;
  }
  return Status(failure.code(), failure.reason(),
                StrCat(failure.message(),
                       "; what was finished is kept: assay "
                       "run --resume ",
                       folder.string()));
}

Result<int> RunWhole(const cli::RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const auto digests = std::make_shared<const file::FileDigests>();
  if (const std::string& oracle = options.selection.oracle; !oracle.empty()) {
    ASSAY_RETURN_IF_ERROR(
        supervise::CheckOracle(oracle, options.oracle_cache, *digests));
  }
  ASSAY_ASSIGN_OR_RETURN(Opened opened, Open(options, *digests));
  plan::Plan& plan = opened.plan;
  const std::vector<size_t> rows = plan::RowsOf(plan, {});
  const fs::path records = opened.folder / "records";
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(records));
  supervise::SuperviseOptions supervise =
      SupervisionOf(options, plan, rows, opened.run.run_id, records, digests);
  verdict::RawRecords raw;
  Status ran = AnswerExactly(options, rows, opened.folder, &supervise, &plan);
  const bool asked =
      std::ranges::any_of(plan.rows, [](const record::PlanRow& row) {
        return !row.oracle.empty() || row.oracle_outcome.has_value();
      });
  if (ran.ok() && asked) ran = plan::WritePlan(plan, opened.folder);
  // While workers run.
  auto mutants =
      supervise::Meanwhile([&] { return MutantsFor(plan, *digests); });
  if (ran.ok()) ran = SuperviseShown(plan, rows, supervise, &raw);
  if (!ran.ok()) return Resumable(opened.folder, ran);
  const select::Commit commit = opened.commit.get();
  opened.run.commit = commit.id;
  opened.run.dirty = commit.dirty;
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  const Result<int> code =
      FinishRun(plan, std::move(raw), opened.run, opened.env,
                {opened.folder, options.allow_unavailable, options.report,
                 options.json, mutants.get(), took.count()});
  if (!code.ok()) return Resumable(opened.folder, code.status());
  if (options.capsules == 0) return *code;
  ASSAY_ASSIGN_OR_RETURN(const auto lines,
                         repro::WriteCapsules(opened.folder, options.capsules));
  for (const std::string& line : lines) {
    OutputFor(options.json) << line << "\n";
  }
  return *code;
}

}  // namespace

int RunCommand(const cli::RunOptions& options) {
  supervise::InstallStopHandlers();
  return select::ExitCodeOf(options.plan.empty() ? RunWhole(options)
                                                 : RunPart(options));
}

}  // namespace assay::run
