// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "framework/core/text.h"

namespace assay::run {
namespace {

constexpr int64_t kLongRun = 500;  // cases that are worth lines of progress
constexpr std::chrono::milliseconds kEvery(100);

size_t ColumnsOf(int descriptor) {
  constexpr size_t kUsual = 80;
  winsize size = {};
  const bool told =
      ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : kUsual;
}

/// "45 s", "12 min", "3 h".
std::string TimeText(double seconds) {
  if (seconds < 100) return StrCat(std::llround(seconds), " s");
  if (seconds < 6000) return StrCat(std::llround(seconds / 60), " min");
  return StrCat(std::llround(seconds / 3600), " h");
}

}  // namespace

std::string ProgressText(const supervise::Progress& now, double left_s,
                         size_t columns) {
  constexpr size_t kWidest = 40;
  constexpr size_t kNarrowest = 10;
  std::string text = StrCat(now.done, " of ", now.planned, " cases");
  const auto add = [&](const std::string& part) {
    if (text.size() + part.size() <= columns) text += part;
  };
  if (now.unexpected > 0) add(StrCat(", ", now.unexpected, " unexpected"));
  if (left_s >= 0) add(StrCat(", ", TimeText(left_s), " left"));
  constexpr size_t kFrame = 3;  // "[] "
  if (columns < text.size() + kFrame + kNarrowest) {
    return text.substr(0, columns);
  }
  const size_t width = std::min(kWidest, columns - text.size() - kFrame);
  const auto filled =
      static_cast<size_t>(static_cast<int64_t>(width) * now.done /
                          std::max<int64_t>(now.planned, 1));
  return StrCat("[", std::string(filled, '#'), std::string(width - filled, ' '),
                "] ", text);
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) std::cerr << "\n" << std::flush;
}

double ProgressLine::SecondsLeft(const supervise::Progress& now) const {
  constexpr double kSoon = 2;  // seconds
  const std::chrono::duration<double> took = Clock::now() - began_;
  const int64_t ran = now.done - done_at_first_;
  if (took.count() < kSoon || ran <= 0 || now.done == now.planned) return -1;
  return took.count() / static_cast<double>(ran) *
         static_cast<double>(now.planned - now.done);
}

void ProgressLine::ShowBar(const supervise::Progress& now) {
  const bool last = now.done == now.planned;
  if (now.done == shown_ || (!last && Clock::now() - shown_at_ < kEvery)) {
    return;
  }
  // A terminal that is full to its last column breaks the line.
  const std::string text =
      ProgressText(now, SecondsLeft(now), ColumnsOf(STDERR_FILENO) - 1);
  const size_t blank = width_ > text.size() ? width_ - text.size() : 0;
  std::cerr << "\r" << text << std::string(blank, ' ') << std::flush;
  width_ = text.size();
  shown_at_ = Clock::now();
  shown_ = now.done;
}

void ProgressLine::Show(const supervise::Progress& now) {
  if (done_at_first_ < 0) done_at_first_ = now.done;
  if (now.planned == 0) return;
  if (terminal_) return ShowBar(now);
  const int64_t tenth = 10 * now.done / now.planned;
  if (now.planned < kLongRun || tenth <= std::max<int64_t>(shown_, 0)) return;
  std::cerr << now.done << " of " << now.planned << " cases"
            << (now.unexpected > 0 ? StrCat(", ", now.unexpected, " unexpected")
                                   : "")
            << "\n";
  shown_ = tenth;
}

}  // namespace assay::run
