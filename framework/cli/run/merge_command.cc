// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/cli/run/finish.h"
#include "framework/cli/select/environment.h"
#include "framework/file/file.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/tables.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;

/// Adds the cases that the oracles of the parts were asked about.
Status AddAsked(const fs::path& part, std::vector<record::ResultRow>* asked) {
  const fs::path file = part / "oracle.csv";
  std::error_code error;
  if (!fs::exists(file, error)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const std::string csv, file::ReadFile(file));
  ASSAY_ASSIGN_OR_RETURN(const auto rows,
                         record::ParseCsv<record::ResultRow>(csv));
  asked->insert(asked->end(), rows.begin(), rows.end());
  return OkStatus();
}

/// One part. One that was cut short gives what it has; the rest is missing.
Status AddPart(const plan::Plan& plan, const fs::path& part,
               verdict::RawRecords* raw) {
  ASSAY_RETURN_IF_ERROR(plan::CheckPart(plan, part));
  ASSAY_ASSIGN_OR_RETURN(const plan::PartHeader header, plan::ReadPart(part));
  const Status added = verdict::CollectFolder(part, header.digest, raw);
  if (added.ok()) return OkStatus();
  return added.WithContext(
      "two parts overlap, or a journal is broken; remove the folder of parts "
      "and run all entries");
}

Result<int> Merge(const cli::MergeOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const plan::Plan plan, plan::ReadPlan(options.parts));
  verdict::RawRecords raw;
  std::vector<record::ResultRow> asked;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(options.parts / "parts", error)) {
    // A shard that was killed at its start leaves no header.
    const bool begun = fs::exists(entry.path() / "part.json", error) || error;
    if (!entry.is_directory() || !begun) continue;
    ASSAY_RETURN_IF_ERROR(AddPart(plan, entry.path(), &raw));
    ASSAY_RETURN_IF_ERROR(AddAsked(entry.path(), &asked));
  }
  const auto env = select::EnvironmentRows();
  const record::RunRow run =
      select::BeginRun(plan, env, select::AskCommit().get());
  const fs::path folder =
      options.out.empty() ? fs::path("runs") / run.run_id : options.out;
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(folder));
  ASSAY_ASSIGN_OR_RETURN(const file::FolderLock lock,
                         file::FolderLock::Take(folder));
  if (!asked.empty()) {
    ASSAY_RETURN_IF_ERROR(
        file::WriteFile(folder / "oracle.csv", record::ToCsv(asked)));
  }
  return FinishRun(plan, std::move(raw), run, env,
                   {.folder = folder,
                    .allow_unavailable = options.allow_unavailable,
                    .report = options.report,
                    .mutants = MutantsFor(plan)});
}

Status WriteIfChanged(const plan::Plan& plan, const fs::path& out) {
  const Result<plan::Plan> old = plan::ReadPlan(out);
  if (old.ok() && old->digest == plan.digest &&
      old->policy_hash == plan.policy_hash &&
      old->selection.oracle == plan.selection.oracle) {
    return OkStatus();
  }
  return plan::WritePlan(plan, out);
}

Status RemoveStaleParts(const plan::Plan& plan, const fs::path& parts) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts, error)) {
    if (plan::CheckPart(plan, entry.path()).ok()) continue;
    fs::remove_all(entry.path(), error);
    if (error) {
      return ResourceExhausted("cannot remove ", entry.path().string(), ": ",
                               error.message());
    }
  }
  return OkStatus();
}

}  // namespace

int MergeCommand(const cli::MergeOptions& options) {
  return select::ExitCodeOf(Merge(options));
}

int PlanCommand(const cli::PlanOptions& options) {
  select::SelectionOptions selection = options;
  selection.made = options.out / "model";
  const Result<plan::Plan> plan = select::PlanOf(selection);
  if (!plan.ok()) return select::Fail(plan.status());
  Status status = WriteIfChanged(*plan, options.out);
  if (status.ok()) status = RemoveStaleParts(*plan, options.out / "parts");
  if (!status.ok()) return select::Fail(status);
  std::cout << plan->rows.size() << " cases planned in " << options.out.string()
            << "\n";
  return select::kExitOk;
}

}  // namespace assay::run
