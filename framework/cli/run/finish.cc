// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/finish.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <set>

#include "framework/cli/commands.h"
#include "framework/cli/run/run_folder.h"
#include "framework/cli/run/run_text.h"
#include "framework/cli/select/terminal.h"
#include "framework/cli/select/version.h"
#include "framework/file/module_path.h"
#include "framework/testing/record/tables.h"

extern char** environ;

namespace assay::run {
namespace {

namespace fs = std::filesystem;

Result<int> RunProgram(std::vector<std::string> arguments,
                       std::vector<std::string> extra_environment) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (std::string& entry : extra_environment) {
    environment.push_back(entry.data());
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  // The child prints to standard error: a program may read our standard output.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(),
                                 environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return NotFound("cannot start ", arguments[0], ": ", std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// The outcomes, the words of conformance, what is unexpected, and all of it in
/// one sentence.
void PrintVerdicts(const verdict::Verdicts& verdicts, std::ostream& out,
                   const select::Colours& colours) {
  for (const verdict::Tally& tally : verdicts.tallies) {
    out << tally.backend << " on " << tally.corpus << ": "
        << colours.Equation(tally.Equation()) << "\n";
  }
  for (const verdict::Conformance& word : verdicts.conformance) {
    const bool good = word.verdict.starts_with("conformant");
    out << word.backend << ": "
        << (good ? colours.Good(word.verdict) : colours.Heading(word.verdict))
        << ", " << record::OneLine(word.reason, 1000) << "\n";
  }
  out << "mutants: " << verdicts.mutants.Sentence() << "\n"
      << UndecidedText(verdicts) << UnavailableText(verdicts)
      << UnexpectedText(verdicts, colours) << "\n"
      << HeadlineText(verdicts, colours) << "\n";
}

/// The command that says more of the first result that is unexpected.
void PrintExplain(const verdict::Verdicts& verdicts, const fs::path& folder,
                  std::ostream& out) {
  for (const verdict::Unexpected& item : verdicts.unexpected) {
    if (item.test_id.empty()) continue;
    out << "  why: assay explain '" << item.test_id << "' --backend "
        << item.backend << " --run " << folder.string() << "\n";
    return;
  }
}

/// A Python that can run the reporting package: the installation's own, else
/// the one that is found on the path.
Result<std::string> ReportingPython() {
  const fs::path own = SharedPath("venv") / "bin" / "python";
  std::error_code error;
  if (fs::exists(own, error)) return own.string();
  constexpr const char* kOnPath = "python3";
  constexpr const char* kHasAll =
      "import importlib.util, sys; sys.exit(sys.version_info < (3, 11) or "
      "importlib.util.find_spec('jinja2') is None)";
  const Result<int> code = RunProgram({kOnPath, "-sP", "-c", kHasAll}, {});
  if (code.ok() && *code == 0) return std::string(kOnPath);
  return NotFound("a page needs Python 3.11 with Jinja2, found ",
                  code.ok() ? "neither" : "no python3",
                  " (Debian: python3-jinja2)");
}

/// Invalid argument for a folder that no run wrote.
Status CheckRuns(const std::vector<std::string>& runs, bool is_training) {
  const char* const file = is_training ? "train.txt" : "runs.csv";
  for (const std::string& run : runs) {
    std::error_code error;
    if (fs::exists(fs::path(run) / file, error)) continue;
    return InvalidArgument(run, " is no run: found no ", file,
                           " there, wanted a folder that assay ",
                           is_training ? "train" : "run", " wrote");
  }
  return OkStatus();
}

/// True for a folder of pairs alone, as `assay compare` writes one.
bool HasPairsAlone(const fs::path& folder) {
  const auto has = [&](const char* name) {
    std::error_code error;
    return fs::exists(folder / name, error);
  };
  return (has("compare.csv") || has("overhead.csv")) && !has("runs.csv");
}

/// The words for the tables of the thesis.
std::vector<std::string> TableWords(const cli::ExportOptions& options) {
  std::vector<std::string> words = {"export", options.folder.string()};
  if (!options.run.empty()) {
    words.insert(words.end(), {"--run", options.run.string()});
  }
  for (const std::string& run : options.training) {
    words.insert(words.end(), {"--training", run});
  }
  return words;
}

/// Writes a page of the options' runs, as Report.
Status WritePage(const cli::ReportOptions& options, const fs::path& out) {
  std::vector<std::string> words = {options.is_training ? "training"
                                    : HasPairsAlone(options.runs[0]) ? "pairs"
                                                                     : "page"};
  words.insert(words.end(), options.runs.begin(), options.runs.end());
  words.insert(words.end(), {"--out", out.string()});
  if (!options.alpha.empty()) {
    words.insert(words.end(),
                 {"--alpha", options.alpha, "--beta", options.beta});
  }
  return Report(std::move(words));
}

/// Says what the floors could take in; those without one are left alone.
void OfferGained(const plan::Plan& plan, const verdict::Verdicts& verdicts,
                 const fs::path& folder, std::ostream& out) {
  if (plan.Partial() || !verdicts.complete) return;
  for (const plan::BackendUse& backend : plan.backends) {
    int64_t gained = 0;
    for (size_t i = 0; i < plan.rows.size(); ++i) {
      const record::PlanRow& row = plan.rows[i];
      const bool passed =
          verdicts.final[i].result.outcome == record::Outcome::kPass;
      if (row.backend == backend.instance && passed &&
          cases::IsDefaultCorpus(row.corpus) && !plan.IsOwn(row) &&
          !std::ranges::binary_search(backend.floor, row.test_id)) {
        ++gained;
      }
    }
    if (gained == 0 || backend.floor.empty()) continue;
    out << backend.instance << ": " << gained
        << " cases pass that passing.txt does not list; assay expect "
           "update --run "
        << folder.string() << " takes them in\n";
  }
}

}  // namespace

fs::path SharedPath(const char* name) {
  return file::InstallPrefix() / "share" / "assay" / name;
}

Status Report(std::vector<std::string> words) {
  const fs::path reports = SharedPath("reports");
  std::error_code error;
  if (!fs::exists(reports, error)) {
    return NotFound("a page needs ", reports.string(), ", which is not there");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string python, ReportingPython());
  // Nothing from the working directory or the user's own packages: a module may
  // have written there.
  std::vector<std::string> command = {python, "-sP", "-m", "assay_report"};
  command.insert(command.end(), words.begin(), words.end());
  ASSAY_ASSIGN_OR_RETURN(
      const int code,
      RunProgram(std::move(command), {"PYTHONPATH=" + reports.string(),
                                      "PYTHONDONTWRITEBYTECODE=1"}));
  if (code == 0) return OkStatus();
  return Internal("the report of ", words[1], " failed with exit code ", code);
}

std::ostream& OutputFor(bool json) { return json ? std::cerr : std::cout; }

verdict::MutantKills MutantsFor(const plan::Plan& plan,
                                const file::FileDigests& digests) {
  std::set<std::string> ran;
  for (const record::PlanRow& row : plan.rows) ran.insert(row.test_id);
  return verdict::ReadMutants(file::InstallPrefix(), &ran, digests);
}

Result<int> FinishRun(const plan::Plan& plan, verdict::RawRecords raw,
                      record::RunRow run,
                      const std::vector<record::EnvRow>& env,
                      FinishOptions options) {
  std::vector<size_t> all(plan.rows.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  verdict::Verdicts verdicts =
      verdict::Assess(plan, all, std::move(raw),
                      {.allow_unavailable = options.allow_unavailable,
                       .mutants = std::move(options.mutants)});
  // Records of parts carry the ids of the processes that made them.
  for (record::Record& record : verdicts.final) {
    record.result.run_id = run.run_id;
  }
  for (record::ResultRow& row : verdicts.attempts) row.run_id = run.run_id;
  for (record::BackendRow& row : verdicts.backends) row.run_id = run.run_id;
  run.duration_s = options.duration_s;
  run.complete = verdicts.complete && !plan.Partial();
  CountOutcomes(verdicts, &run);
  for (const verdict::Tally& tally : verdicts.tallies) {
    if (!tally.Balanced()) {
      return Internal("the accounting of ", tally.backend,
                      " does not hold: ", tally.Equation());
    }
  }
  const int code = verdicts.ExitCode();
  ASSAY_RETURN_IF_ERROR(
      WriteRunFolder(options.folder, run, env, plan, verdicts, code));
  ASSAY_RETURN_IF_ERROR(PointLatest(options.folder));
  std::ostream& out = OutputFor(options.json);
  PrintVerdicts(
      verdicts, out,
      select::ColoursOf(options.json ? STDERR_FILENO : STDOUT_FILENO));
  PrintExplain(verdicts, options.folder, out);
  OfferGained(plan, verdicts, options.folder, out);
  if (options.duration_s.has_value()) {
    out << "took " << TimeText(*options.duration_s) << "\n";
  }
  if (options.report) {
    const fs::path page = options.folder / "report.html";
    const Status written = WritePage({.runs = {options.folder.string()}}, page);
    if (written.ok()) {
      out << "\nreport: " << page.string() << "\n";
    } else if (written.code() == StatusCode::kNotFound) {
      // The verdict stands without.
      out << "\nwritten to " << options.folder.string()
          << ", no report.html: " << written.message() << "\n";
    } else {
      return written;
    }
  } else {
    out << "\nwritten to " << options.folder.string() << "\n";
  }
  if (options.json) {
    std::cout << RunJson(run, plan, verdicts, code, options.folder);
  }
  return code;
}

int ReportCommand(const cli::ReportOptions& options) {
  if (!options.is_training && options.runs.size() != 1) {
    return select::Fail(InvalidArgument(
        "found ", options.runs.size(),
        " runs, wanted one, or --training: a page shows one run of cases"));
  }
  const fs::path out = options.out.empty()
                           ? fs::path(options.runs[0]) / "report.html"
                           : options.out;
  Status status = OkStatus();
  if (options.is_training || !HasPairsAlone(options.runs[0])) {
    status = CheckRuns(options.runs, options.is_training);
  }
  if (status.ok()) status = WritePage(options, out);
  if (!status.ok()) return select::Fail(status);
  std::cout << "report: " << out.string() << "\n";
  return select::kExitOk;
}

int ExportCommand(const cli::ExportOptions& options) {
  const bool is_json = !options.google_benchmark.empty();
  const fs::path& out = is_json ? options.google_benchmark : options.folder;
  if (out.empty()) {
    return select::Fail(InvalidArgument(
        "found nothing to write, wanted --deep500 DIR or --google-benchmark "
        "FILE"));
  }
  if (options.run.empty() && options.training.empty()) {
    return select::Fail(
        InvalidArgument("found neither a run nor training, wanted --run DIR or "
                        "--training DIR"));
  }
  Status status = CheckRuns(options.training, /*is_training=*/true);
  if (status.ok() && !options.run.empty()) {
    status = CheckRuns({options.run.string()}, /*is_training=*/false);
  }
  if (status.ok()) {
    status = Report(is_json ? std::vector<std::string>{"google-benchmark",
                                                       options.run.string(),
                                                       "--out", out.string()}
                            : TableWords(options));
  }
  if (!status.ok()) return select::Fail(status);
  std::cout << "written to " << out.string() << "\n";
  return select::kExitOk;
}

}  // namespace assay::run
