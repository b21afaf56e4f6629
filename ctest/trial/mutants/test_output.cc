// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/test_output.h"

#include <sys/wait.h>

#include <algorithm>

#include "framework/core/text.h"

namespace assay::harness_mutants {
namespace {

constexpr std::string_view kRun = "[ RUN      ] ";
constexpr std::string_view kPassed = "[       OK ] ";
constexpr std::string_view kFailed = "[  FAILED  ] ";
constexpr std::string_view kSkipped = "[  SKIPPED ] ";

/// The test's name: what follows it is a parameter or the time it took.
std::string NameIn(std::string_view rest) {
  return std::string(rest.substr(0, rest.find_first_of(" ,")));
}

/// "A.b (1234 ms)"
bool TookASecond(std::string_view rest) {
  const size_t open = rest.rfind('(');
  return open != rest.npos && rest.find(" ms)", open) > open + 4 &&
         rest.ends_with(" ms)");
}

}  // namespace

bool TestOutput::Clean() const {
  return wait_status == 0 && n_passed > 0 && first_failure.empty();
}

std::string TestOutput::Describe() const {
  const std::string how = WIFSIGNALED(wait_status)
                              ? StrCat("signal ", WTERMSIG(wait_status))
                              : StrCat("exit code ", WEXITSTATUS(wait_status));
  return StrCat(how, ", ", n_passed, " tests passed",
                first_failure.empty() ? "" : ", failed: ", first_failure);
}

TestOutput ReadTestOutput(std::string_view text, int wait_status) {
  TestOutput output;
  output.wait_status = wait_status;
  std::string open;
  while (!text.empty()) {
    const std::string_view line = CutFront(&text);
    if (line.starts_with(kRun)) {
      open = NameIn(line.substr(kRun.size()));
    } else if (line.starts_with(kPassed)) {
      ++output.n_passed;
      const std::string_view passed = line.substr(kPassed.size());
      if (TookASecond(passed)) output.slow.push_back(NameIn(passed));
      open.clear();
    } else if (line.starts_with(kSkipped)) {
      open.clear();
    } else if (line.starts_with(kFailed)) {
      if (output.first_failure.empty()) {
        output.first_failure = NameIn(line.substr(kFailed.size()));
      }
      open.clear();
    }
  }
  if (output.first_failure.empty() && !open.empty()) {
    output.first_failure = open;
  }
  return output;
}

}  // namespace assay::harness_mutants
