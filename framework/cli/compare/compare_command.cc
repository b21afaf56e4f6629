// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/cli/compare/comparison_report.h"
#include "framework/cli/compare/run_comparison.h"
#include "framework/cli/run/run_text.h"
#include "framework/cli/select/selection.h"
#include "framework/cli/select/terminal.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/oracle.h"
#include "framework/supervise/supervisor.h"
#include "framework/supervise/trial.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::compare {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuite = "compare";
constexpr const char* kOracle = "reference";

Status Write(const std::vector<Compared>& all,
             const cli::CompareOptions& options) {
  if (options.out.empty()) return OkStatus();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(options.out));
  ASSAY_RETURN_IF_ERROR(file::WriteFile(
      options.out / "compare.csv", CsvOf(all, {.margin = options.threshold})));
  std::cout << "written to " << options.out.string() << ": compare.csv\n";
  return OkStatus();
}

/// A comparison of two runs that were timed before.
Result<int> CompareTimed(const cli::CompareOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const TimedRun base, ReadTimedRun(options.base));
  ASSAY_ASSIGN_OR_RETURN(const TimedRun candidate,
                         ReadTimedRun(options.candidate));
  ASSAY_ASSIGN_OR_RETURN(const ComparedRuns found,
                         CompareRuns(base, candidate, options.threshold));
  std::cout << RunsText(found, base, candidate, options.threshold);
  ASSAY_RETURN_IF_ERROR(Write(found.all, options));
  return select::kExitOk;
}

/// A comparison of two backends, in workers of its own.
class Comparing {
 public:
  Comparing(const cli::CompareOptions& options, supervise::WorkFolder* work)
      : options_(options), work_(*work) {}

  Result<int> Run();

 private:
  Status Plan();
  /// Runs these rows of the plan, in an order of that attempt's own.
  Result<verdict::RawRecords> Take(const std::vector<size_t>& rows,
                                   int64_t attempt);
  Status TakeSecond(std::vector<Compared>* all);
  /// Notes the results that are neither a comparison nor declined.
  void AddRed(const std::vector<size_t>& rows, const verdict::RawRecords& raw);
  const cli::CompareOptions& options_;
  supervise::WorkFolder& work_;
  plan::Plan plan_;
  supervise::SuperviseOptions supervise_;
  std::string red_;  // a paragraph for each such result
  int64_t n_declined_ = 0;
};

Status Comparing::Plan() {
  select::SelectionOptions selection;
  selection.backends = {options_.candidate};
  selection.corpora = options_.corpora;
  selection.selection.suites = {kSuite};
  selection.selection.filter = options_.filter;
  selection.selection.tier = options_.tier;
  selection.selection.seed = options_.seed;
  selection.command = "assay compare";
  ASSAY_ASSIGN_OR_RETURN(plan_, select::PlanOf(selection, *supervise_.digests));
  ASSAY_ASSIGN_OR_RETURN(
      const plan::PlannedBackend base,
      plan::ResolveBackend(options_.base, *supervise_.digests));
  supervise_.worker = file::InstallPrefix() / "bin" / "assay-worker";
  supervise_.directory = work_.Next();
  supervise_.facts.run_id = kSuite;
  supervise_.facts.seed = options_.seed;
  supervise_.facts.started_us = record::SteadyMicroseconds();
  supervise_.facts.time_budget_s = options_.budget_s;
  supervise_.facts.beside = base.instance;
  supervise_.facts.beside_module = base.module;
  supervise_.timeout_s = options_.timeout_s;
  supervise_.jobs = 1;
  supervise_.most_repeated = 0;
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(supervise_.directory));
  return supervise::AskOracle(kOracle, {}, supervise_, plan::RowsOf(plan_, {}),
                              &plan_)
      .status();
}

Result<verdict::RawRecords> Comparing::Take(const std::vector<size_t>& rows,
                                            int64_t attempt) {
  supervise::SuperviseOptions options = supervise_;
  options.directory = work_.Next();
  // Another run, since the tables of a repeated attempt are not kept.
  options.facts.run_id = StrCat(kSuite, ".", attempt);
  options.progress = run::ShownProgress();
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(options.directory));
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(supervise::Supervise(plan_, rows, options, &raw));
  return raw;
}

Status Comparing::TakeSecond(std::vector<Compared>* all) {
  const timing::Thresholds thresholds{.margin = options_.threshold};
  std::vector<size_t> again;
  for (size_t i = 0; i < plan_.rows.size(); ++i) {
    const auto one =
        std::ranges::find(*all, plan_.rows[i].test_id, &Compared::test_id);
    if (one != all->end() && LooksApart(*one, thresholds)) again.push_back(i);
  }
  if (again.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const verdict::RawRecords raw, Take(again, 2));
  AddRed(again, raw);
  for (const auto& [key, record] : raw.records) {
    ASSAY_ASSIGN_OR_RETURN(auto second, ComparedIn(record));
    const auto one =
        std::ranges::find(*all, record.result.test_id, &Compared::test_id);
    if (second.has_value() && one != all->end()) {
      one->second = std::move(second->first);
    }
  }
  return OkStatus();
}

void Comparing::AddRed(const std::vector<size_t>& rows,
                       const verdict::RawRecords& raw) {
  for (const size_t i : rows) {
    const record::PlanRow& planned = plan_.rows[i];
    const auto found = raw.records.find({planned.backend, planned.test_id});
    const record::ResultRow row =
        found != raw.records.end()
            ? found->second.result
            : record::ResultOf(planned, supervise_.facts);
    if (row.outcome == record::Outcome::kUnsupported) ++n_declined_;
    if (row.outcome == record::Outcome::kPass ||
        row.outcome == record::Outcome::kUnsupported) {
      continue;
    }
    red_ += select::Wrapped(
        StrCat(row.test_id, ": ", row.outcome, ": ", row.message));
  }
}

Result<int> Comparing::Run() {
  ASSAY_RETURN_IF_ERROR(Plan());
  const std::vector<size_t> rows = plan::RowsOf(plan_, {});
  ASSAY_ASSIGN_OR_RETURN(const verdict::RawRecords raw, Take(rows, 1));
  AddRed(rows, raw);
  std::vector<Compared> all;
  for (const auto& [key, record] : raw.records) {
    ASSAY_ASSIGN_OR_RETURN(auto one, ComparedIn(record));
    if (one.has_value()) all.push_back(*std::move(one));
  }
  AddQValues(&all);
  const int64_t n_declined = n_declined_;
  ASSAY_RETURN_IF_ERROR(TakeSecond(&all));
  const timing::Thresholds thresholds{.margin = options_.threshold};
  AddVerdicts(thresholds, &all);
  std::cout << red_
            << TextOf(all, options_.base, options_.candidate, thresholds);
  if (n_declined > 0) {
    std::cout << "Declined by one of the two, or undecided: " << n_declined
              << ".\n";
  }
  ASSAY_RETURN_IF_ERROR(Write(all, options_));
  const bool is_red = !red_.empty() || Count(all, timing::Verdict::kWorse) > 0;
  return is_red ? select::kExitUnexpected : select::kExitOk;
}

}  // namespace

int CompareCommand(const cli::CompareOptions& options) {
  const bool base_is_run = fs::is_directory(options.base);
  if (base_is_run != fs::is_directory(options.candidate)) {
    return select::Fail(InvalidArgument(
        "found the folder ", base_is_run ? options.base : options.candidate,
        " beside ", base_is_run ? options.candidate : options.base,
        ", which is none, wanted two backends or two folders of runs"));
  }
  if (base_is_run) return select::ExitCodeOf(CompareTimed(options));
  supervise::InstallStopHandlers();
  auto work = supervise::WorkFolder::Make();
  if (!work.ok()) return select::Fail(work.status());
  return select::ExitCodeOf(Comparing(options, &*work).Run());
}

}  // namespace assay::compare
