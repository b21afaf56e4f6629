// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/trial.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "framework/supervise/crew.h"
#include "framework/testing/file/file.h"
#include "framework/testing/file/module_path.h"
#include "framework/testing/suite/outputs_suite.h"

namespace assay::inline v1 {

namespace fs = std::filesystem;

Result<WorkFolder> WorkFolder::Make() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string name = (base / "assay.XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return ResourceExhausted("cannot make the temporary folder ", name, ": ",
                             error ? error.message() : std::strerror(errno));
  }
  return WorkFolder(name);
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
