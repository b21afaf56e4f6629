// SPDX-License-Identifier: Apache-2.0
//
// CrashLog: the log of a session's workers and hosts, and what each said of its
// end (framework/testing/host/crash_report.h).

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::process {

struct CrashReport {
  std::string phase;  // "forward"; empty: not told
  std::vector<std::string>
      frames;  // "acme.so(acme::Run()+0x1c)", the innermost
               // first
};

class CrashLog {
 public:
  explicit CrashLog(std::filesystem::path file) : file_(std::move(file)) {}

  /// The report of a process that ended so, as waitpid has it: the first of its
  /// signal behind those that were taken, since by now a later one may have
  /// ended, too.
  CrashReport Take(int wait_status);
  /// True when nothing was printed.
  bool IsEmpty() const;

 private:
  std::filesystem::path file_;
  size_t read_ = 0;
};

/// " in forward, at acme.so(...), acme.so(...)" of the report, or of the phase
/// that the other side of a host knows where there is none.
std::string TextOf(const CrashReport& report, const std::string& asked);

}  // namespace assay::process
