// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <map>
#include <set>

#include "framework/cli/commands.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/policy/policy_edit.h"
#include "framework/testing/record/tables.h"

namespace assay::expect {
namespace {

namespace fs = std::filesystem;

struct FinishedRun {
  plan::Plan plan;
  std::vector<record::ResultRow> results;
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
  ASSAY_ASSIGN_OR_RETURN(run.plan, plan::ReadPlan(folder));
  ASSAY_ASSIGN_OR_RETURN(
      run.results, select::ReadTable<record::ResultRow>(folder, "results.csv"));
  ASSAY_ASSIGN_OR_RETURN(const auto raw, select::ReadTable<record::ResultRow>(
                                             folder, "attempts.csv"));
  for (const record::ResultRow& row : raw) {
    if (row.outcome == record::Outcome::kUnsupported) {
      run.declined.emplace(row.backend, row.test_id);
    }
  }
  run.whole = !run.plan.Partial();
  for (const record::ResultRow& row : run.results) {
    if (row.outcome == record::Outcome::kMissing) run.whole = false;
  }
  return run;
}

/// The cases of the corpora that policies are about, which must be those of the
/// run.
Result<std::map<std::string, cases::TestCase>> CasesOf(const plan::Plan& plan) {
  std::map<std::string, cases::TestCase> cases;
  ASSAY_ASSIGN_OR_RETURN(const select::NamedCorpora opened,
                         select::OpenPlanned(plan));
  for (size_t i = 0; i < plan.corpora.size(); ++i) {
    const plan::CorpusUse& use = plan.corpora[i];
    if (!cases::IsDefaultCorpus(use.name)) continue;
    const cases::Corpus& corpus = opened.corpora[i];
    if (corpus.hash != use.hash) {
      return InvalidArgument("the corpus ", use.name, " in ", use.directory,
                             " is not the one of the run: run again");
    }
    for (const cases::TestCase& c : corpus.cases) {
      if (!c.own) cases.emplace(c.test_id, c);
    }
  }
  return cases;
}

/// The result of each case, before the policy made it a verdict.
std::vector<policy::SeenCase> SeenBy(
    const FinishedRun& run, const std::string& backend,
    const std::map<std::string, cases::TestCase>& cases) {
  std::map<std::string, std::optional<record::Outcome>> expected;
  for (const record::PlanRow& row : run.plan.rows) {
    if (row.backend == backend) expected.emplace(row.test_id, row.expected);
  }
  std::vector<policy::SeenCase> seen;
  for (const record::ResultRow& row : run.results) {
    const auto found = cases.find(row.test_id);
    if (row.backend != backend || found == cases.end()) continue;
    policy::SeenCase& c = seen.emplace_back();
    c.test_case = &found->second;
    c.message = row.message;
    c.raw = row.outcome;
    c.waived = c.raw == record::Outcome::kWaived;
    if (c.waived || c.raw == record::Outcome::kXpass)
      c.raw = record::Outcome::kPass;
    if (c.raw == record::Outcome::kXfail) {
      c.raw = expected[row.test_id].value_or(record::Outcome::kFail);
    }
    c.declined = c.raw == record::Outcome::kFail &&
                 run.declined.contains({backend, row.test_id});
  }
  return seen;
}

Result<std::string> TextOf(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::string();
  return file::ReadFile(file);
}

/// Writes behind links, so that these stay.
Status WriteText(const fs::path& directory, const char* name,
                 const std::string& before, const std::string& after) {
  if (before == after) return OkStatus();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  std::error_code error;
  return file::WriteFile(fs::weakly_canonical(directory / name, error), after);
}

Status CheckFresh(const plan::BackendUse& use, const policy::Policy& policy) {
  ASSAY_ASSIGN_OR_RETURN(const std::string module,
                         file::Sha256OfFile(use.module));
  if (module != use.module_sha256) {
    return InvalidArgument("the run is of another build of ", use.instance,
                           " than ", use.module, " is now: run again");
  }
  if (file::Sha256(policy.text()) != use.policy_hash) {
    return InvalidArgument("the policy of ", use.instance, " in ",
                           use.policy_dir,
                           " was changed since the run: run again");
  }
  return OkStatus();
}

void Print(const plan::BackendUse& use, const policy::PolicyEdit& edit,
           bool dry_run) {
  std::cout << use.instance << ": " << edit.changes.size() << " changes"
            << (dry_run ? ", none written" : "") << " in " << use.policy_dir
            << "\n";
  for (const auto& line : edit.changes) std::cout << "  " << line << "\n";
  if (!edit.by_hand.empty()) std::cout << "left to you:\n";
  for (const auto& line : edit.by_hand) std::cout << "  " << line << "\n";
}

Status Update(const cli::ExpectOptions& options, const FinishedRun& run,
              const plan::BackendUse& use,
              const std::map<std::string, cases::TestCase>& cases) {
  const fs::path directory = use.policy_dir;
  ASSAY_ASSIGN_OR_RETURN(
      policy::Policy policy,
      policy::ReadPolicy(directory, policy::MachineFacts(use.isa),
                         policy::Today(), policy::Reasons::kMayBeEmpty));
  policy::PolicyTexts texts;
  ASSAY_ASSIGN_OR_RETURN(texts.expectations,
                         TextOf(directory / "expectations.txt"));
  ASSAY_ASSIGN_OR_RETURN(texts.passing, TextOf(directory / "passing.txt"));
  const policy::PolicyEdit edit = policy::EditPolicy(
      policy, texts, use.instance, SeenBy(run, use.instance, cases),
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
Result<std::vector<plan::BackendUse>> BackendsOf(
    const cli::ExpectOptions& options, const plan::Plan& plan) {
  std::vector<plan::BackendUse> uses;
  std::set<std::string> directories;
  for (const plan::BackendUse& use : plan.backends) {
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

Status Run(const cli::ExpectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const FinishedRun run, ReadRun(options.run));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<plan::BackendUse> uses,
                         BackendsOf(options, run.plan));
  if (!run.whole) {
    if (options.drop) {
      return InvalidArgument("the run ", options.run.string(),
                             " is partial: --drop wants one of everything");
    }
    std::cout << "a partial run: nothing is removed\n";
  }
  ASSAY_ASSIGN_OR_RETURN(const auto cases, CasesOf(run.plan));
  for (const plan::BackendUse& use : uses) {
    ASSAY_RETURN_IF_ERROR(Update(options, run, use, cases));
  }
  return OkStatus();
}

}  // namespace

int ExpectCommand(const cli::ExpectOptions& options) {
  return select::ExitCodeOf(Run(options));
}

}  // namespace assay::expect
