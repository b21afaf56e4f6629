// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/run/finish.h"

namespace assay::run {

int ReportCommand(const cli::ReportOptions& options) {
  if (options.runs.size() != 1) {
    return select::Fail(
        InvalidArgument("found ", options.runs.size(),
                        " runs, wanted one: a page shows one run"));
  }
  const std::filesystem::path out =
      options.out.empty()
          ? std::filesystem::path(options.runs[0]) / "report.html"
          : options.out;
  const Status status = WritePage(options.runs[0], out);
  if (!status.ok()) return select::Fail(status);
  std::cout << "report: " << out.string() << "\n";
  return select::kExitOk;
}

}  // namespace assay::run
