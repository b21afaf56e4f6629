// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/trial.h"

#include <stdlib.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/supervise/crew.h"

namespace assay::supervise {

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
    const Result<file::FolderLock> lock = file::FolderLock::Take(entry.path());
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
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  SuperviseOptions supervise;
  supervise.worker = file::InstallPrefix() / "bin" / "assay-worker";
  supervise.directory = directory;
  supervise.facts.seed = options_.seed;
  supervise.facts.started_us = record::SteadyMicroseconds();
  supervise.facts.suite = suite;
  supervise.facts.output = output;
  supervise.in_process = suite == suite::kAnswersSuite;
  supervise.timeout_s = options_.timeout_s;
  supervise.digests = options_.digests;
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(RunRows(backend_, planned, supervise, &raw));
  std::vector<record::ResultRow> results;
  for (const record::PlanRow& row : rows) {
    const auto found = raw.records.find({row.backend, row.test_id});
    results.push_back(found != raw.records.end()
                          ? std::move(found->second.result)
                          : record::ResultOf(row, supervise.facts));
  }
  return results;
}

}  // namespace assay::supervise
