// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/inspection.h"

#include <string_view>
#include <utility>

#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/trial.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/suite/interfaces_suite.h"

namespace assay::supervise {

Result<Inspection> Inspect(const plan::BackendUse& backend,
                           const std::filesystem::path& directory,
                           double timeout_s) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  record::PlanRow row;
  row.test_id = row.suite = suite::kInterfacesSuite;
  row.backend = backend.instance;
  SuperviseOptions options;
  options.worker = file::InstallPrefix() / "bin" / "assay-worker";
  options.directory = directory;
  options.facts.started_us = record::SteadyMicroseconds();
  options.facts.suite = suite::kInterfacesSuite;
  options.timeout_s = timeout_s;
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(RunRows(backend, {&row}, options, &raw));
  Inspection seen;
  ASSAY_ASSIGN_OR_RETURN(seen.note, identity::ReadModuleNote(backend.module));
  seen.backend = raw.backends[backend.instance];
  const auto found = raw.records.find({row.backend, row.test_id});
  seen.interfaces = found != raw.records.end()
                        ? std::move(found->second.result)
                        : record::ResultOf(row, options.facts);
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
