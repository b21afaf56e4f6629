// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/repro/capsule.h"
#include "framework/supervise/crew.h"
#include "framework/testing/record/outcome.h"

namespace assay::repro {
namespace {

Status WriteOne(const cli::CapsuleOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(select::ChosenCase chosen, select::Choose(options));
  ASSAY_ASSIGN_OR_RETURN(CapsuleContent content, ContentOf(std::move(chosen)));
  content.oracle = options.oracle;
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow result,
                         WriteCapsule(content, options.out));
  std::cout << result.test_id << " on " << result.backend << ": "
            << result.outcome << "\n";
  const auto& in_run = content.chosen.in_run;
  if (in_run.has_value() && in_run->outcome != result.outcome) {
    std::cout << "in the run it was " << in_run->outcome
              << ": what ran before it may matter\n";
  }
  std::cout << "written to " << options.out.string()
            << "; its README.txt says how to run it\n";
  return OkStatus();
}

Status WriteFromRun(const record::ResultRow& row,
                    const std::filesystem::path& run,
                    const std::filesystem::path& out) {
  select::CaseOptions options;
  options.test_id = row.test_id;
  options.backend = row.backend;
  options.run = run;
  ASSAY_ASSIGN_OR_RETURN(select::ChosenCase chosen, select::Choose(options));
  ASSAY_ASSIGN_OR_RETURN(const CapsuleContent content,
                         ContentOf(std::move(chosen)));
  return WriteCapsule(content, out).status();
}

}  // namespace

Result<std::vector<std::string>> WriteCapsules(const std::filesystem::path& run,
                                               int count) {
  std::vector<std::string> lines;
  ASSAY_ASSIGN_OR_RETURN(
      const auto results,
      select::ReadTable<record::ResultRow>(run, "results.csv"));
  for (const record::ResultRow& row : results) {
    if (!record::IsUnexpected(row.outcome)) continue;
    if (count-- <= 0) break;
    const std::filesystem::path out = run / "capsules" /
                                      StrCat(plan::FileNameOf(row.test_id), ".",
                                             plan::FileNameOf(row.backend));
    const Status written = WriteFromRun(row, run, out);
    if (written.code() == StatusCode::kCancelled) return written;
    lines.push_back(written.ok() ? StrCat("capsule: ", out.string())
                                 : StrCat("no capsule: ", written.message()));
  }
  return lines;
}

int CapsuleCommand(const cli::CapsuleOptions& options) {
  supervise::InstallStopHandlers();
  const Status status = WriteOne(options);
  return status.ok() ? select::kExitOk : select::Fail(status);
}

}  // namespace assay::repro
