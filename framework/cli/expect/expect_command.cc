// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "framework/cli/commands.h"
#include "framework/testing/file/digest.h"
#include "framework/testing/file/file.h"
#include "framework/testing/plan/plan_file.h"
#include "framework/testing/policy/policy_edit.h"
#include "framework/testing/record/tables.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

/// A finished run as its folder holds it.
struct FinishedRun {
  Plan plan;
  std::vector<ResultRow> results;
  std::set<std::pair<std::string, std::string>> declined;  // backend, test_id
  bool whole = true;  // nothing was left out, and nothing is missing
};

Result<FinishedRun> ReadRun(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "summary.json", error)) {
    return InvalidArgument("found no finished run in ", folder.string(),
                           ", wanted a folder with a summary.json");
  }
  FinishedRun run;
  ASSAY_ASSIGN_OR_RETURN(run.plan, ReadPlan(folder));
  ASSAY_ASSIGN_OR_RETURN(const std::string results,
                         ReadFile(folder / "results.csv"));
  ASSAY_ASSIGN_OR_RETURN(run.results, ParseCsv<ResultRow>(results));
  ASSAY_ASSIGN_OR_RETURN(const std::string attempts,
                         ReadFile(folder / "attempts.csv"));
  ASSAY_ASSIGN_OR_RETURN(const auto raw, ParseCsv<ResultRow>(attempts));
  for (const ResultRow& row : raw) {
    if (row.outcome == Outcome::kUnsupported) {
      run.declined.emplace(row.backend, row.test_id);
    }
  }
  run.whole = !run.plan.Partial();
  for (const ResultRow& row : run.results) {
    if (row.outcome == Outcome::kMissing) run.whole = false;
  }
  return run;
}

/// The cases of the corpora that policies are about, which must be those of the
/// run.
Result<std::map<std::string, TestCase>> CasesOf(const Plan& plan) {
  std::map<std::string, TestCase> cases;
  for (const CorpusUse& use : plan.corpora) {
    if (std::ranges::find(kDefaultCorpora, use.name) == kDefaultCorpora.end()) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const NamedCorpora opened,
                           OpenCorpora({use.directory}));
    const Corpus& corpus = opened.corpora.at(0);
    if (corpus.hash != use.hash) {
      return InvalidArgument("the corpus ", use.name, " in ", use.directory,
                             " is not the one of the run: run again");
    }
    for (const TestCase& c : corpus.cases) cases.emplace(c.test_id, c);
  }
  return cases;
}

/// The result of each case, before the policy made it a verdict.
std::vector<SeenCase> SeenBy(const FinishedRun& run, const std::string& backend,
                             const std::map<std::string, TestCase>& cases) {
  std::map<std::string, std::optional<Outcome>> expected;
  for (const PlanRow& row : run.plan.rows) {
    if (row.backend == backend) expected.emplace(row.test_id, row.expected);
  }
  std::vector<SeenCase> seen;
  for (const ResultRow& row : run.results) {
    const auto found = cases.find(row.test_id);
    if (row.backend != backend || found == cases.end()) continue;
    SeenCase& c = seen.emplace_back();
    c.test_case = &found->second;
    c.message = row.message;
    c.raw = row.outcome;
    c.waived = c.raw == Outcome::kWaived;
    if (c.waived || c.raw == Outcome::kXpass) c.raw = Outcome::kPass;
    if (c.raw == Outcome::kXfail) {
      c.raw = expected[row.test_id].value_or(Outcome::kFail);
    }
    c.declined = c.raw == Outcome::kFail &&
                 run.declined.contains({backend, row.test_id});
  }
  return seen;
}

Result<std::string> TextOf(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::string();
  return ReadFile(file);
}

/// Writes behind links, so that these stay.
Status WriteText(const fs::path& directory, const char* name,
                 const std::string& before, const std::string& after) {
  if (before == after) return OkStatus();
  ASSAY_RETURN_IF_ERROR(MakeDirectory(directory));
  std::error_code error;
  return WriteFile(fs::weakly_canonical(directory / name, error), after);
}

/// Invalid argument where the run is of another module or policy.
Status CheckFresh(const BackendUse& use, const Policy& policy) {
  ASSAY_ASSIGN_OR_RETURN(const std::string module, Sha256OfFile(use.module));
  if (module != use.module_sha256) {
    return InvalidArgument("the run is of another build of ", use.instance,
                           " than ", use.module, " is now: run again");
  }
  if (Sha256(policy.text()) != use.policy_hash) {
    return InvalidArgument("the policy of ", use.instance, " in ",
                           use.policy_dir,
                           " was changed since the run: run again");
  }
  return OkStatus();
}

void Print(const BackendUse& use, const PolicyEdit& edit, bool dry_run) {
  std::cout << use.instance << ": " << edit.changes.size() << " changes"
            << (dry_run ? ", none written" : "") << " in " << use.policy_dir
            << "\n";
  for (const std::string& line : edit.changes) {
    std::cout << "  " << line << "\n";
  }
  if (!edit.by_hand.empty()) std::cout << "left to you:\n";
  for (const std::string& line : edit.by_hand) {
    std::cout << "  " << line << "\n";
  }
}

Status Update(const ExpectOptions& options, const FinishedRun& run,
              const BackendUse& use,
              const std::map<std::string, TestCase>& cases) {
  const fs::path directory = use.policy_dir;
  ASSAY_ASSIGN_OR_RETURN(
      Policy policy,
      ReadPolicy(directory, MachineFeatures(), Today(), Reasons::kMayBeEmpty));
  PolicyTexts texts;
  ASSAY_ASSIGN_OR_RETURN(texts.expectations,
                         TextOf(directory / "expectations.txt"));
  ASSAY_ASSIGN_OR_RETURN(texts.passing, TextOf(directory / "passing.txt"));
  const PolicyEdit edit =
      EditPolicy(policy, texts, use.instance, SeenBy(run, use.instance, cases),
                 {.remove = run.whole, .drop = options.drop});
  // A policy that has adopted the run need not be the run's policy any more.
  if (edit.texts != texts) ASSAY_RETURN_IF_ERROR(CheckFresh(use, policy));
  Print(use, edit, options.dry_run);
  if (options.dry_run) return OkStatus();
  ASSAY_RETURN_IF_ERROR(WriteText(directory, "expectations.txt",
                                  texts.expectations, edit.texts.expectations));
  return WriteText(directory, "passing.txt", texts.passing, edit.texts.passing);
}

/// The backends that are asked for, no two with one policy.
Result<std::vector<BackendUse>> BackendsOf(const ExpectOptions& options,
                                           const Plan& plan) {
  std::vector<BackendUse> uses;
  std::set<std::string> directories;
  for (const BackendUse& use : plan.backends) {
    if (!options.backend.empty() && use.instance != options.backend) continue;
    if (!directories.insert(use.policy_dir).second) {
      return InvalidArgument("the run has ", use.instance,
                             " and another with the policy in ", use.policy_dir,
                             ": name one with --backend");
    }
    uses.push_back(use);
  }
  if (!uses.empty()) return uses;
  return InvalidArgument("the run ", options.run.string(), " has no backend ",
                         options.backend);
}

Status Run(const ExpectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const FinishedRun run, ReadRun(options.run));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<BackendUse> uses,
                         BackendsOf(options, run.plan));
  if (!run.whole) {
    if (options.drop) {
      return InvalidArgument("the run ", options.run.string(),
                             " is partial: --drop wants one of everything");
    }
    std::cout << "a partial run: nothing is removed\n";
  }
  ASSAY_ASSIGN_OR_RETURN(const auto cases, CasesOf(run.plan));
  for (const BackendUse& use : uses) {
    ASSAY_RETURN_IF_ERROR(Update(options, run, use, cases));
  }
  return OkStatus();
}

}  // namespace

int ExpectCommand(const ExpectOptions& options) {
  const Status status = Run(options);
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace assay::inline v1
