// SPDX-License-Identifier: Apache-2.0
//
// assay-times RUN: what the times of a run say together.

#include <iostream>

#include "perf/summary/summary.h"

namespace assay::summary {
namespace {

Status Main(const char* folder) {
  ASSAY_ASSIGN_OR_RETURN(const TimedRun run, ReadRun(folder));
  const std::string text = TextOf(run);
  if (text.empty()) {
    return NotFound(folder,
                    " has no problem and no two sizes of a case, wanted "
                    "a run of the suite time");
  }
  std::cout << text;
  return OkStatus();
}

}  // namespace
}  // namespace assay::summary

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: assay-times RUN\n";
    return 2;
  }
  const assay::Status status = assay::summary::Main(argv[1]);
  if (!status.ok()) std::cerr << "assay-times: " << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
