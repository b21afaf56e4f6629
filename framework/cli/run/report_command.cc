// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/run/finish.h"

namespace assay::inline v1 {

int ReportCommand(const ReportOptions& options) {
  if (options.runs.size() != 1) {
    return Fail(InvalidArgument("found ", options.runs.size(),
                                " runs, wanted one: a page shows one run"));
  }
  const Status status = WritePage(options.runs[0], options.out);
  if (!status.ok()) return Fail(status);
  std::cout << "report: " << options.out.string() << "\n";
  return kExitOk;
}

}  // namespace assay::inline v1
