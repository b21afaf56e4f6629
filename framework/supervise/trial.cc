// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/trial.h"

#include <stdlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <system_error>

#include "framework/file/module_path.h"
#include "framework/supervise/crew.h"
#include "framework/testing/plan/resolve.h"

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWork = "assay-work.";

/// Removes the work folders that nobody holds, since their process was killed.
/// A new one is not held at once.
void RemoveAbandoned(const fs::path& base) {
  std::error_code error;
  const auto recent =
      fs::file_time_type::clock::now() - std::chrono::minutes(1);
  for (const auto& entry : fs::directory_iterator(base, error)) {
    if (!entry.path().filename().string().starts_with(kWork)) continue;
    if (fs::last_write_time(entry.path(), error) > recent) continue;
    const Result<file::FolderLock> lock = file::FolderLock::Take(entry.path());
    if (lock.ok()) fs::remove_all(entry.path(), error);
  }
}

/// For workers that run a suite outside of a run; makes the folder.
Result<SuperviseOptions> OptionsFor(const std::string& suite,
                                    const fs::path& directory,
                                    double timeout_s) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  SuperviseOptions options;
  options.worker = file::InstallPrefix() / "bin" / "assay-worker";
  options.directory = directory;
  options.facts.started_us = record::SteadyMicroseconds();
  options.facts.suite = suite;
  options.timeout_s = timeout_s;
  return options;
}

/// The result of a row; with the outcome missing where there is none.
record::ResultRow ResultIn(const verdict::RawRecords& raw,
                           const record::PlanRow& row,
                           const SuperviseOptions& options) {
  const auto found = raw.records.find({row.backend, row.test_id});
  return found != raw.records.end() ? found->second.result
                                    : record::ResultOf(row, options.facts);
}

}  // namespace

Result<WorkFolder> WorkFolder::Make() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  RemoveAbandoned(base);
  std::string name = (base / StrCat(kWork, "XXXXXX")).string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return ResourceExhausted("cannot make the temporary folder ", name, ": ",
                             error ? error.message() : std::strerror(errno));
  }
  ASSAY_ASSIGN_OR_RETURN(file::FolderLock lock, file::FolderLock::Take(name));
  return WorkFolder(name, std::move(lock));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<std::vector<record::ResultRow>> Trial::Run(
    std::vector<record::PlanRow> rows, const fs::path& directory,
    const std::string& suite, const fs::path& output) const {
  std::vector<const record::PlanRow*> planned;
  for (record::PlanRow& row : rows) {
    row.backend = backend_.instance;
    planned.push_back(&row);
  }
  ASSAY_ASSIGN_OR_RETURN(SuperviseOptions supervise,
                         OptionsFor(suite, directory, options_.timeout_s));
  supervise.facts.seed = options_.seed;
  supervise.facts.output = output;
  supervise.in_process = suite == suite::kAnswersSuite;
  supervise.digests = options_.digests;
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(RunRows(backend_, planned, supervise, &raw));
  std::vector<record::ResultRow> results;
  for (const record::PlanRow& row : rows) {
    results.push_back(ResultIn(raw, row, supervise));
  }
  return results;
}

Result<Inspection> Inspect(const plan::BackendUse& backend,
                           const std::filesystem::path& directory,
                           double timeout_s) {
  record::PlanRow row;
  row.test_id = row.suite = suite::kInterfacesSuite;
  row.backend = backend.instance;
  ASSAY_ASSIGN_OR_RETURN(
      const SuperviseOptions options,
      OptionsFor(suite::kInterfacesSuite, directory, timeout_s));
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(RunRows(backend, {&row}, options, &raw));
  Inspection seen;
  ASSAY_ASSIGN_OR_RETURN(seen.note, identity::ReadModuleNote(backend.module));
  seen.backend = raw.backends[backend.instance];
  seen.interfaces = ResultIn(raw, row, options);
  for (const auto& [path, digest] : raw.files[backend.instance]) {
    seen.libraries.push_back(path);
  }
  return seen;
}

Status ReadPolicyHere(plan::PlannedBackend* backend) {
  if (!backend->policy.NeedsIsa()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(WorkFolder folder, WorkFolder::Make());
  ASSAY_ASSIGN_OR_RETURN(const Inspection seen,
                         Inspect(plan::UseOf(*backend), folder.Next()));
  std::vector<std::string> isa;
  std::string_view rest = seen.backend.isa;
  while (!rest.empty()) isa.emplace_back(CutFront(&rest, " "));
  return plan::ReadPolicyFor(std::move(isa), backend);
}

}  // namespace assay::supervise
