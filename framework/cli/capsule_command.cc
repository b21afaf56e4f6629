// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/capsule.h"
#include "framework/cli/commands.h"
#include "framework/cli/supervisor.h"

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

}  // namespace

int CapsuleCommand(const CapsuleOptions& options) {
  InstallStopHandlers();
  const Status status = WriteOne(options);
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace assay::inline v1
