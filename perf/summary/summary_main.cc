// SPDX-License-Identifier: Apache-2.0
//
// assay-times RUN [OUT]: what the times of a run say together. OUT is a file of
// the table scaling that is written.

#include <iostream>

#include "framework/file/file.h"
#include "framework/testing/record/tables.h"
#include "perf/summary/summary.h"

namespace assay::summary {
namespace {

Status Main(const char* folder, const char* out) {
  ASSAY_ASSIGN_OR_RETURN(const TimedRun run, ReadRun(folder));
  const std::string text = TextOf(run);
  if (text.empty()) {
    return NotFound(folder,
                    " has no problem and no two sizes of a case, wanted "
                    "a run of the suite time");
  }
  std::cout << text;
  if (out == nullptr) return OkStatus();
  return file::WriteFile(out, record::ToCsv(ScalingsOf(run)));
}

}  // namespace
}  // namespace assay::summary

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: assay-times RUN [OUT.csv]\n";
    return 2;
  }
  const assay::Status status =
      assay::summary::Main(argv[1], argc == 3 ? argv[2] : nullptr);
  if (!status.ok()) std::cerr << "assay-times: " << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
