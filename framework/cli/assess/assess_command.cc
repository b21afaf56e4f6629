// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <thread>

#include "framework/cli/assess/kill_matrix.h"
#include "framework/cli/commands.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/oracle.h"
#include "framework/supervise/supervisor.h"
#include "framework/supervise/trial.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/verdict/conformance.h"

namespace assay::assess {
namespace {

namespace fs = std::filesystem;

// The cases for a mutant that names none. Big models take most of a run's time
// and see nothing that small ones do not; gradients are the business of mutants
// that are right forward. A mutant that is seen at inputs drawn for a run has
// to be seen at those that never change, too.
constexpr const char* kCases =
    "not op:light and not suite:gradcheck and not suite:optimizer and not "
    "suite:redrawn";
constexpr const char* kGradcheck = "gradcheck";

// Whom those are asked of that are judged by exact answers.
constexpr const char* kOracle = "reference";

/// The cases that a mutant is tried on: those it names, gradients or not.
std::string CasesOf(const policy::MutantLine& mutant) {
  if (mutant.where.empty()) return kCases;
  return StrCat("(", mutant.where, ") and ",
                mutant.killer == kGradcheck ? "" : "not suite:redrawn and not ",
                "suite:", kGradcheck);
}

// Clean runs of ranks, which take more of a machine.
constexpr int kRepeats = 20;
constexpr int kRepeatsOfRanks = 10;

/// Has the exact answers computed that cases are judged by and that are not
/// there, once for all backends of the plan.
Status AnswerExactly(std::vector<size_t> rows,
                     supervise::SuperviseOptions* supervise, plan::Plan* plan) {
  ASSAY_RETURN_IF_ERROR(supervise::UseOracle(kOracle, *plan, rows, supervise));
  std::erase_if(rows,
                [&](size_t i) { return !suite::NeedsAnswers(plan->rows[i]); });
  if (rows.empty()) return OkStatus();
  return supervise::AskOracle(kOracle, {}, *supervise, rows, plan).status();
}

/// Runs plans of a faulty backend, and forgets what they wrote.
class Assessor {
 public:
  Assessor(const cli::AssessOptions& options,
           const select::NamedCorpora& corpora, supervise::WorkFolder* work)
      : options_(options), corpora_(corpora), work_(*work) {}

  /// The cases that `where` takes of `instance`, into a plan of several.
  Status Add(const std::string& instance, const std::string& where,
             plan::Plan* plan) const {
    std::vector<plan::PlannedBackend> backends(1);
    ASSAY_ASSIGN_OR_RETURN(backends[0],
                           plan::ResolveBackend(instance, *digests_));
    ASSAY_RETURN_IF_ERROR(supervise::ReadPolicyHere(&backends[0]));
    plan::Selection selection;
    selection.filter = where;
    ASSAY_ASSIGN_OR_RETURN(plan::Plan part,
                           plan::MakePlan(selection, "assess", corpora_.corpora,
                                          corpora_.directories, backends));
    std::ranges::move(part.rows, std::back_inserter(plan->rows));
    std::ranges::move(part.backends, std::back_inserter(plan->backends));
    return OkStatus();
  }

  Result<std::vector<record::ResultRow>> Run(plan::Plan plan,
                                             int64_t seed) const {
    const fs::path scratch = work_.Next();
    ASSAY_RETURN_IF_ERROR(file::MakeDirectory(scratch));
    supervise::SuperviseOptions supervise;
    supervise.worker = file::InstallPrefix() / "bin" / "assay-worker";
    supervise.directory = scratch;
    supervise.digests = digests_;
    supervise.facts.run_id = "assess";
    supervise.facts.seed = seed;
    supervise.facts.started_us = record::SteadyMicroseconds();
    supervise.jobs =
        options_.jobs > 0
            ? options_.jobs
            : static_cast<int>(std::thread::hardware_concurrency());
    supervise.shuffle = seed != 0;
    supervise.most_repeated = 0;
    std::vector<size_t> rows(plan.rows.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    ASSAY_RETURN_IF_ERROR(AnswerExactly(rows, &supervise, &plan));
    verdict::RawRecords raw;
    ASSAY_RETURN_IF_ERROR(supervise::Supervise(plan, rows, supervise, &raw));
    const verdict::Verdicts verdicts =
        verdict::Assess(plan, rows, std::move(raw));
    std::vector<record::ResultRow> results;
    for (const record::Record& record : verdicts.final)
      results.push_back(record.result);
    return results;
  }

 private:
  const cli::AssessOptions& options_;
  const select::NamedCorpora& corpora_;
  supervise::WorkFolder& work_;
  const std::shared_ptr<const file::FileDigests> digests_ =
      std::make_shared<const file::FileDigests>();
};

/// The clean backend again and again: where a verdict is another than at first.
Result<std::vector<std::string>> FalseAlarms(
    const Assessor& assessor, const plan::Plan& clean,
    const std::vector<record::ResultRow>& first, int repeats) {
  std::vector<std::string> alarms;
  for (int seed = 1; seed <= repeats; ++seed) {
    ASSAY_ASSIGN_OR_RETURN(const auto again, assessor.Run(clean, seed));
    for (size_t i = 0; i < again.size(); ++i) {
      if (again[i].outcome == first[i].outcome) continue;
      alarms.push_back(StrCat(again[i].test_id, " with seed ", seed, ": ",
                              again[i].outcome, ": ", again[i].message));
    }
  }
  return alarms;
}

/// Runs every mutant at once, each on the cases it may show in: their results,
/// one mutant's after the other's.
Result<std::vector<record::ResultRow>> RunMutants(
    const Assessor& assessor, const std::vector<policy::MutantLine>& mutants,
    const std::string& backend) {
  plan::Plan plan;
  for (const policy::MutantLine& mutant : mutants) {
    const Status added = assessor.Add(StrCat(backend, "+mutant=", mutant.name),
                                      CasesOf(mutant), &plan);
    if (!added.ok()) return added.WithContext(mutant.name);
  }
  return assessor.Run(plan, /*seed=*/0);
}

/// The cases that pass without a mutant: of those run first, and of those that
/// only some mutant names.
Result<std::set<std::string>> Passing(
    const Assessor& assessor, const std::string& backend,
    std::vector<record::ResultRow> clean,
    const std::vector<record::ResultRow>& mutated) {
  std::set<std::string> known;
  for (const record::ResultRow& row : clean) known.insert(row.test_id);
  std::string more;
  for (const record::ResultRow& row : mutated) {
    if (!known.insert(row.test_id).second) continue;
    more += StrCat(more.empty() ? "id:" : " or id:", row.test_id);
  }
  if (!more.empty()) {
    plan::Plan plan;
    ASSAY_RETURN_IF_ERROR(assessor.Add(backend, more, &plan));
    ASSAY_ASSIGN_OR_RETURN(const auto rest, assessor.Run(plan, /*seed=*/0));
    clean.insert(clean.end(), rest.begin(), rest.end());
  }
  std::set<std::string> passing;
  for (const record::ResultRow& row : clean) {
    if (row.outcome == record::Outcome::kPass) passing.insert(row.test_id);
  }
  return passing;
}

KillMatrix MatrixOf(std::set<std::string> passing,
                    const std::vector<policy::MutantLine>& mutants,
                    const std::vector<record::ResultRow>& results) {
  KillMatrix matrix(std::move(passing));
  size_t at = 0;
  for (const policy::MutantLine& mutant : mutants) {
    const std::string& instance = results[at].backend;
    std::vector<record::ResultRow> mine;
    while (at < results.size() && results[at].backend == instance) {
      mine.push_back(results[at++]);
    }
    matrix.Add(mutant, mine);
  }
  return matrix;
}

/// Adds what was found out of the harness itself, where that is of this build.
Status AddHarness(const fs::path& file, const std::string& build_id,
                  std::vector<record::MutantRow>* rows) {
  std::error_code error;
  if (!fs::exists(file, error)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const std::string csv, file::ReadFile(file));
  ASSAY_ASSIGN_OR_RETURN(auto more, record::ParseCsv<record::MutantRow>(csv));
  if (std::ranges::any_of(more, [&](const record::MutantRow& row) {
        return !row.build_id.empty() && row.build_id != build_id;
      })) {
    std::cout << file.string()
              << " is of another build and is left out: run the test "
                 "trust/harness_mutants\n";
    return OkStatus();
  }
  std::ranges::move(more, std::back_inserter(*rows));
  return OkStatus();
}

void PrintAll(const char* what, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    std::cout << what << ": " << item << "\n";
  }
}

Result<std::vector<std::string>> BackendsWithMutants() {
  std::vector<std::string> found;
  for (const std::string& name : file::InstalledBackends()) {
    std::error_code error;
    if (fs::exists(
            file::PolicyPath(file::ModulePath(name)) / policy::kMutantsFile,
            error)) {
      found.push_back(name);
    }
  }
  if (!found.empty()) return found;
  return InvalidArgument("found no backend with a ", policy::kMutantsFile,
                         " in ", file::ModuleDirectory().string(),
                         ", wanted one, or a name as --backend");
}

/// The backend's list: those that are asked for, and the others.
struct Chosen {
  std::vector<policy::MutantLine> mutants, others;
};

Result<Chosen> MutantsOf(const cli::AssessOptions& options,
                         const std::string& backend) {
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend faulty,
                         plan::ResolveBackend(backend));
  ASSAY_ASSIGN_OR_RETURN(auto all, policy::ReadMutantLines(faulty.policy_dir));
  if (options.mutants.empty()) return Chosen{std::move(all), {}};
  Chosen chosen;
  for (policy::MutantLine& mutant : all) {
    const bool is_asked = std::ranges::count(options.mutants, mutant.name) > 0;
    (is_asked ? chosen.mutants : chosen.others).push_back(std::move(mutant));
  }
  return chosen;
}

/// The row of a mutant that was not tried: it has no build.
record::MutantRow UntriedRow(const policy::MutantLine& mutant) {
  record::MutantRow row;
  row.mutant = mutant.name;
  row.mutant_class = mutant.kind;
  row.expected_killer = mutant.killer;
  return row;
}

struct Assessment {
  KillMatrix matrix;
  std::vector<std::string> alarms;  // of the clean backend
  size_t n_clean;                   // cases of each clean run
  int repeats;                      // of those
};

/// A few mutants are compared with their own cases alone.
Result<Assessment> TryMutants(const cli::AssessOptions& options,
                              const std::string& backend,
                              const std::vector<policy::MutantLine>& mutants,
                              const Assessor& assessor) {
  plan::Plan clean;
  std::vector<record::ResultRow> first;
  if (options.mutants.empty()) {
    ASSAY_RETURN_IF_ERROR(assessor.Add(backend, kCases, &clean));
    ASSAY_ASSIGN_OR_RETURN(first, assessor.Run(clean, /*seed=*/0));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto mutated,
                         RunMutants(assessor, mutants, backend));
  ASSAY_ASSIGN_OR_RETURN(auto passing,
                         Passing(assessor, backend, first, mutated));
  std::vector<std::string> alarms;
  int repeats = 0;
  if (options.mutants.empty()) {
    const bool of_ranks = clean.Backend(backend).launch.has_ranks();
    repeats = options.repeats.value_or(of_ranks ? kRepeatsOfRanks : kRepeats);
    ASSAY_ASSIGN_OR_RETURN(alarms,
                           FalseAlarms(assessor, clean, first, repeats));
  }
  return Assessment{MatrixOf(std::move(passing), mutants, mutated),
                    std::move(alarms), first.size(), repeats};
}

struct Assessed {
  std::vector<record::MutantRow> rows, untried;
  std::vector<std::string> survivors, alarms;
  std::set<std::string> names;
};

/// Adds a backend's list. Invalid argument for a mutant that another one has.
Status AddBackend(const cli::AssessOptions& options, const std::string& backend,
                  const Assessor& assessor, Assessed* all) {
  ASSAY_ASSIGN_OR_RETURN(const auto chosen, MutantsOf(options, backend));
  const std::vector<policy::MutantLine>& mutants = chosen.mutants;
  std::ranges::transform(chosen.others, std::back_inserter(all->untried),
                         UntriedRow);
  if (mutants.empty()) return OkStatus();
  for (const policy::MutantLine& mutant : mutants) {
    if (all->names.insert(mutant.name).second) continue;
    return InvalidArgument("found the mutant '", mutant.name,
                           "' of several backends, one of them ", backend,
                           ", wanted a name of its own for each");
  }
  ASSAY_ASSIGN_OR_RETURN(const Assessment found,
                         TryMutants(options, backend, mutants, assessor));
  std::cout << found.matrix.Text() << "\n"
            << found.matrix.n_mutants() << " mutants of " << backend << " in "
            << found.matrix.n_classes() << " classes\n";
  if (found.n_clean > 0) {
    std::cout << "false alarms: " << found.alarms.size() << " in "
              << found.repeats << " clean repeats of " << found.n_clean
              << " cases\n";
  }
  std::cout << std::flush;
  std::ranges::move(found.matrix.Rows(), std::back_inserter(all->rows));
  std::ranges::move(found.matrix.Survivors(),
                    std::back_inserter(all->survivors));
  std::ranges::copy(found.alarms, std::back_inserter(all->alarms));
  return OkStatus();
}

Status CheckNames(const cli::AssessOptions& options, const Assessed& all) {
  for (const std::string& name : options.mutants) {
    if (all.names.contains(name)) continue;
    return InvalidArgument("found --mutant ", name, ", wanted a name of a ",
                           policy::kMutantsFile);
  }
  return OkStatus();
}

/// Writes the table, those of the harness among them. True where all were
/// killed.
Result<bool> WriteTable(const cli::AssessOptions& options, Assessed all) {
  const fs::path prefix = file::InstallPrefix();
  ASSAY_ASSIGN_OR_RETURN(const std::string build_id, file::BuildId(prefix));
  std::vector<record::MutantRow> rows = std::move(all.rows);
  for (record::MutantRow& row : rows) row.build_id = build_id;
  std::ranges::move(all.untried, std::back_inserter(rows));
  ASSAY_RETURN_IF_ERROR(
      AddHarness(prefix / "trust" / "harness_mutants.csv", build_id, &rows));
  const verdict::MutantKills kills = verdict::CountMutants(rows, build_id);
  const fs::path file = options.out.empty()
                            ? prefix / "share" / "assay" / "mutants.csv"
                            : options.out;
  ASSAY_RETURN_IF_ERROR(file::WriteFile(file, record::ToCsv(rows)));
  std::cout << "mutants: " << kills.Sentence() << "\n"
            << "written to " << file.string() << "\n";
  return kills.survivors.empty() && kills.assessed();
}

Result<int> RunAssess(cli::AssessOptions options) {
  if (options.backends.empty()) {
    ASSAY_ASSIGN_OR_RETURN(options.backends, BackendsWithMutants());
  }
  std::vector<plan::PlannedBackend> backends;
  for (const std::string& name : options.backends) {
    ASSAY_ASSIGN_OR_RETURN(plan::PlannedBackend each,
                           plan::ResolveBackend(name));
    backends.push_back(std::move(each));
  }
  ASSAY_ASSIGN_OR_RETURN(const select::NamedCorpora corpora,
                         select::OpenCorpora(select::CorporaFor(backends, {})));
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder work,
                         supervise::WorkFolder::Make());
  const Assessor assessor(options, corpora, &work);
  Assessed all;
  for (const std::string& backend : options.backends) {
    ASSAY_RETURN_IF_ERROR(AddBackend(options, backend, assessor, &all));
  }
  ASSAY_RETURN_IF_ERROR(CheckNames(options, all));
  bool are_all_killed = true;
  if (options.mutants.empty() || !options.out.empty()) {
    ASSAY_ASSIGN_OR_RETURN(are_all_killed, WriteTable(options, all));
  }
  PrintAll("survivor", all.survivors);
  PrintAll("false alarm", all.alarms);
  const bool is_well =
      are_all_killed && all.survivors.empty() && all.alarms.empty();
  return is_well ? select::kExitOk : select::kExitUnexpected;
}

}  // namespace

int AssessCommand(const cli::AssessOptions& options) {
  if (options.check) {
    const verdict::MutantKills kills =
        verdict::ReadMutants(file::InstallPrefix());
    std::cout << "mutants: " << kills.Sentence() << "\n";
    return kills.assessed() ? select::kExitOk : select::kExitUnexpected;
  }
  supervise::InstallStopHandlers();
  return select::ExitCodeOf(RunAssess(options));
}

}  // namespace assay::assess
