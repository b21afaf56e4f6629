// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/trial.h"

#include <stdlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/supervise/crew.h"
#include "framework/testing/file/file.h"
#include "framework/testing/file/module_path.h"
#include "framework/testing/suite/outputs_suite.h"

namespace assay::inline v1 {

namespace fs = std::filesystem;

namespace {

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
    const Result<FolderLock> lock = FolderLock::Take(entry.path());
    if (lock.ok()) fs::remove_all(entry.path(), error);
  }
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
  ASSAY_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(name));
  return WorkFolder(name, std::move(lock));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<std::vector<ResultRow>> Trial::Run(std::vector<PlanRow> rows,
                                          const fs::path& directory,
                                          const fs::path& dump) const {
  std::vector<const PlanRow*> planned;
  for (PlanRow& row : rows) {
    row.backend = backend_.instance;
    planned.push_back(&row);
  }
  ASSAY_RETURN_IF_ERROR(MakeDirectory(directory));
  SuperviseOptions supervise;
  supervise.worker = InstallPrefix() / "bin" / "assay-worker";
  supervise.directory = directory;
  supervise.facts.seed = options_.seed;
  supervise.facts.started_us = SteadyMicroseconds();
  if (!dump.empty()) supervise.facts.suite = kOutputsSuite;
  supervise.facts.output = dump;
  supervise.timeout_s = options_.timeout_s;
  RawRecords raw;
  ASSAY_RETURN_IF_ERROR(RunRows(backend_, planned, supervise, &raw));
  std::vector<ResultRow> results;
  for (const PlanRow& row : rows) {
    const auto found = raw.records.find({row.backend, row.test_id});
    results.push_back(found != raw.records.end()
                          ? std::move(found->second.result)
                          : ResultOf(row, supervise.facts));
  }
  return results;
}

}  // namespace assay::inline v1
