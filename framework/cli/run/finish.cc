// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/finish.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>

#include "framework/cli/commands.h"
#include "framework/cli/run/run_folder.h"
#include "framework/cli/run/unexpected_text.h"
#include "framework/cli/select/version.h"
#include "framework/testing/file/module_path.h"

extern char** environ;

namespace assay::run {
namespace {

namespace fs = std::filesystem;

/// A file for reports of the installation, or of the build.
fs::path SharedPath(const char* name) {
  return file::InstallPrefix() / "share" / "assay" / name;
}

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
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(),
                                environment.data());
  if (error != 0) {
    return NotFound("cannot start ", arguments[0], ": ", std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Says what the floors could take in; those without one are left alone.
void OfferGained(const plan::Plan& plan, const verdict::Verdicts& verdicts,
                 const fs::path& folder) {
  if (plan.Partial() || !verdicts.complete) return;
  for (const plan::BackendUse& backend : plan.backends) {
    int64_t gained = 0;
    for (size_t i = 0; i < plan.rows.size(); ++i) {
      const record::PlanRow& row = plan.rows[i];
      const bool passed =
          verdicts.final[i].result.outcome == record::Outcome::kPass;
      if (row.backend == backend.instance && passed &&
          std::ranges::count(cases::kDefaultCorpora, row.corpus) > 0 &&
          !std::ranges::binary_search(backend.floor, row.test_id)) {
        ++gained;
      }
    }
    if (gained == 0 || backend.floor.empty()) continue;
    std::cout << backend.instance << ": " << gained
              << " cases pass that passing.txt does not list; assay expect "
                 "update --run "
              << folder.string() << " takes them in\n";
  }
}

}  // namespace

Status WritePage(const fs::path& run, const fs::path& file) {
  const fs::path python = SharedPath("venv") / "bin" / "python";
  const fs::path reports = SharedPath("reports");
  for (const fs::path& needed : {python, reports}) {
    std::error_code error;
    if (!fs::exists(needed, error)) {
      return NotFound("the report needs ", needed.string(),
                      ", which does not exist; ctest/bootstrap.sh makes it");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(
      const int code, RunProgram({python.string(), "-m", "assay_report", "page",
                                  run.string(), "--out", file.string()},
                                 {"PYTHONPATH=" + reports.string(),
                                  "PYTHONDONTWRITEBYTECODE=1"}));
  if (code == 0) return OkStatus();
  return Internal("the report of ", run.string(), " failed with exit code ",
                  code);
}

void PrintVerdicts(const verdict::Verdicts& verdicts) {
  for (const verdict::Tally& tally : verdicts.tallies) {
    std::cout << tally.backend << " on " << tally.corpus << ": "
              << tally.Equation() << "\n";
  }
  for (const verdict::Conformance& word : verdicts.conformance) {
    std::cout << word.backend << ": " << word.verdict << ", " << word.reason
              << "\n";
  }
  std::cout << "mutants: " << verdicts.mutants.Sentence() << "\n";
  std::cout << UnavailableText(verdicts) << UnexpectedText(verdicts);
}

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
  verdict::Verdicts verdicts = verdict::Assess(
      plan, all, std::move(raw), /*whole=*/true, std::move(options.mutants));
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
  const int code = verdicts.ExitCode(options.allow_unavailable);
  ASSAY_RETURN_IF_ERROR(
      WriteRunFolder(options.folder, run, env, plan, verdicts, code));
  ASSAY_RETURN_IF_ERROR(PointLatest(options.folder));
  PrintVerdicts(verdicts);
  OfferGained(plan, verdicts, options.folder);
  if (!options.report) {
    std::cout << "\nwritten to " << options.folder.string() << "\n";
    return code;
  }
  const fs::path page = options.folder / "report.html";
  ASSAY_RETURN_IF_ERROR(WritePage(options.folder, page));
  std::cout << "\nreport: " << page.string() << "\n";
  return code;
}

}  // namespace assay::run
