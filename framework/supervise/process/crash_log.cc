// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/crash_log.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/file.h"

namespace assay::process {
namespace {

constexpr std::string_view kMark = "assay crash: ";
constexpr size_t kMostFrames = 10;
constexpr size_t kMostBytes = 160;  // of a frame

/// "acme.so(_ZN4acme3RunEv+0x1c)" with the name that a person wrote.
std::string FrameText(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const size_t open = line.find('(');
  const size_t plus = line.rfind('+');
  if (open == line.npos || plus == line.npos || plus < open) {
    return std::string(line.substr(0, kMostBytes));
  }
  const std::string mangled(line.substr(open + 1, plus - open - 1));
  // The names of C are those of types, too: "f" is a float.
  const bool is_mangled = mangled.starts_with("_Z");
  const std::unique_ptr<char, decltype(&std::free)> name(
      is_mangled
          ? abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr)
          : nullptr,
      &std::free);
  const std::string plain = name == nullptr ? mangled : name.get();
  return StrCat(line.substr(0, open + 1).substr(0, kMostBytes),
                plain.substr(0, kMostBytes),
                line.substr(plus).substr(0, kMostBytes));
}

}  // namespace

CrashReport CrashReportIn(std::string_view log) {
  CrashReport report;
  bool inside = false;
  while (!log.empty()) {
    std::string_view line = CutFront(&log);
    if (line.starts_with(kMark)) {
      line.remove_prefix(kMark.size());
      inside = line != "end";
      if (!inside) continue;
      const size_t in = line.find(" in ");
      report = {};
      if (in != line.npos) report.phase = line.substr(in + 4, kMostBytes);
    } else if (inside && line.starts_with("  ") &&
               report.frames.size() < kMostFrames) {
      // A recursion says no more by its other frames.
      std::string frame = FrameText(line);
      if (report.frames.empty() || report.frames.back() != frame) {
        report.frames.push_back(std::move(frame));
      }
    }
  }
  return report;
}

CrashReport CrashLog::Take() {
  const auto log = file::ReadFile(file_);
  if (!log.ok()) return {};
  const size_t begin = std::min(read_, log->size());
  read_ = log->size();
  return CrashReportIn(std::string_view(*log).substr(begin));
}

bool CrashLog::IsEmpty() const {
  std::error_code error;
  return std::filesystem::file_size(file_, error) == 0 || error;
}

std::string TextOf(const CrashReport& report, const std::string& asked) {
  const std::string& phase = report.phase.empty() ? asked : report.phase;
  return StrCat(phase.empty() ? "" : " in ", phase,
                report.frames.empty() ? "" : ", at ", Joined(report.frames));
}

}  // namespace assay::process
