// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/process/crash_log.h"

#include <cxxabi.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
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

/// Reads its lines, the first of which is its head.
CrashReport ReportOf(std::string_view lines) {
  CrashReport report;
  const std::string_view head = CutFront(&lines);
  const size_t in = head.find(" in ");
  if (in != head.npos) report.phase = head.substr(in + 4, kMostBytes);
  while (!lines.empty() && report.frames.size() < kMostFrames) {
    const std::string_view line = CutFront(&lines);
    if (!line.starts_with("  ")) continue;
    // A recursion says no more by its other frames.
    std::string frame = FrameText(line);
    if (report.frames.empty() || report.frames.back() != frame) {
      report.frames.push_back(std::move(frame));
    }
  }
  return report;
}

}  // namespace

CrashReport CrashLog::Take(int wait_status) {
  const auto log = file::ReadFile(file_);
  const char* const signal =
      WIFSIGNALED(wait_status) ? sigabbrev_np(WTERMSIG(wait_status)) : nullptr;
  if (!log.ok() || (WIFSIGNALED(wait_status) && signal == nullptr)) return {};
  const std::string head =
      StrCat(kMark, signal != nullptr ? "SIG" : "exit", signal ? signal : "");
  const size_t begin = log->find(head, read_);
  if (begin == log->npos) return {};
  // Its end, or the head of the next where it was cut short.
  read_ = std::min(log->find(kMark, begin + head.size()), log->size());
  return ReportOf(std::string_view(*log).substr(begin, read_ - begin));
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
