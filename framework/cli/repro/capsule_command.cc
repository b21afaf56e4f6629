// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/repro/capsule.h"
#include "framework/supervise/crew.h"
#include "framework/testing/record/outcome.h"

namespace assay::inline v1 {
namespace {

Status WriteOne(const CapsuleOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(ChosenCase chosen, Choose(options));
  ASSAY_ASSIGN_OR_RETURN(const CapsuleContent content,
                         ContentOf(std::move(chosen)));
  ASSAY_ASSIGN_OR_RETURN(const ResultRow result,
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

Status WriteFromRun(const ResultRow& row, const std::filesystem::path& run,
                    const std::filesystem::path& out) {
  CaseOptions options;
  options.test_id = row.test_id;
  options.backend = row.backend;
  options.run = run;
  ASSAY_ASSIGN_OR_RETURN(ChosenCase chosen, Choose(options));
  ASSAY_ASSIGN_OR_RETURN(const CapsuleContent content,
                         ContentOf(std::move(chosen)));
  return WriteCapsule(content, out).status();
}

}  // namespace

Result<std::vector<std::string>> WriteCapsules(const std::filesystem::path& run,
                                               int count) {
  std::vector<std::string> lines;
  ASSAY_ASSIGN_OR_RETURN(const auto results,
                         ReadTable<ResultRow>(run, "results.csv"));
  for (const ResultRow& row : results) {
    if (!IsUnexpected(row.outcome)) continue;
    if (count-- <= 0) break;
    const std::filesystem::path out =
        run / "capsules" /
        StrCat(FileNameOf(row.test_id), ".", FileNameOf(row.backend));
    const Status written = WriteFromRun(row, run, out);
    if (written.code() == StatusCode::kCancelled) return written;
    lines.push_back(written.ok() ? StrCat("capsule: ", out.string())
                                 : StrCat("no capsule: ", written.message()));
  }
  return lines;
}

int CapsuleCommand(const CapsuleOptions& options) {
  InstallStopHandlers();
  const Status status = WriteOne(options);
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace assay::inline v1
