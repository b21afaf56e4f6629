// SPDX-License-Identifier: Apache-2.0
//
// One side of ort_light_bench.py: loads a case on a backend and runs it each
// time that a line on standard input asks.
//
//   light_bench build/lib/assay/reference.so CASE_FOLDER [NAME=VALUE]...
//
// Answers every line with the milliseconds of one Forward and Synchronize of
// the same binding, in the order of asking; the first answer, before any line,
// has those of Load and Bind.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "framework/backend/registry.h"
#include "framework/testing/case/test_case.h"

namespace {

using namespace assay;
using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

void Answer(double milliseconds) {
  std::printf("%.6f\n", milliseconds);
  std::fflush(stdout);
}

Status Serve(const std::string& module, const std::string& folder,
             const LoadOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(module));
  if (names.size() != 1) {
    return InvalidArgument(module, " registers ", names.size(),
                           " backends, wanted one");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(names[0]));
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data,
                         cases::ReadCaseData(folder, 1));
  const auto start = Clock::now();
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         backend->Load(data.model, options));
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         network->Bind(data.sets[0].inputs, {}));
  Answer(Since(start));
  for (std::string line; std::getline(std::cin, line);) {
    const auto forward = Clock::now();
    ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
    ASSAY_RETURN_IF_ERROR(network->Synchronize());
    Answer(Since(forward));
  }
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  LoadOptions options;
  for (int i = 3; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t equals = text.find('=');
    if (equals == std::string::npos) argc = 0;
    options.settings[text.substr(0, equals)] =
        equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  if (argc < 3) {
    std::cerr << "usage: light_bench MODULE CASE_FOLDER [NAME=VALUE]...\n";
    return 2;
  }
  const Status status = Serve(argv[1], argv[2], options);
  if (status.ok()) return 0;
  std::cerr << "light_bench: " << status.ToString() << '\n';
  return 1;
}
