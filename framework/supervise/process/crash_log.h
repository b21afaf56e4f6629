// SPDX-License-Identifier: Apache-2.0
//
// CrashLog: the log of a session's workers and hosts, and what the one that
// ended last said of its end (framework/testing/host/crash_report.h).

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

/// The last report in a text that anybody may have printed.
CrashReport CrashReportIn(std::string_view log);

class CrashLog {
 public:
  explicit CrashLog(std::filesystem::path file) : file_(std::move(file)) {}

  /// The report in what was printed since it was asked last.
  CrashReport Take();
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
