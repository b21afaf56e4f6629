// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/run_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/testing/record/tables.h"

namespace assay::run {
namespace {

constexpr size_t kShown = 10;        // groups
constexpr size_t kMostReason = 400;  // of a reason, bytes

struct Group {
  std::vector<const verdict::Unexpected*> items;

  const verdict::Unexpected& first() const { return *items.front(); }
};

/// The reason without what differs from case to case.
std::string Kind(const std::string& reason) {
  std::istringstream words(reason);
  std::string kind;
  for (std::string word; words >> word;) {
    const bool differs = word.find('/') != std::string::npos ||
                         std::ranges::any_of(word, [](unsigned char c) {
                           return std::isdigit(c) != 0;
                         });
    kind += differs ? "#" : word;
    kind += ' ';
  }
  return kind;
}

std::vector<Group> GroupsOf(const std::vector<verdict::Unexpected>& items) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (const verdict::Unexpected& item : items) {
    groups[{item.backend, item.outcome, Kind(item.reason)}].items.push_back(
        &item);
  }
  std::vector<Group> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::sort(sorted, [](const Group& a, const Group& b) {
    return a.items.size() != b.items.size() ? a.items.size() > b.items.size()
                                            : &a.first() < &b.first();
  });
  return sorted;
}

/// ", 133 of them not run again alone (--repeats)", or nothing.
std::string NotRepeated(const verdict::Verdicts& verdicts) {
  std::set<std::string_view> never_began;
  for (const record::BackendRow& row : verdicts.backends) {
    if (!row.unavailable_reason.empty()) never_began.insert(row.backend);
  }
  const auto n =
      std::ranges::count_if(verdicts.final, [&](const record::Record& record) {
        return record.result.attempt == 1 &&
               record::IsFailure(record.result.outcome) &&
               !never_began.contains(record.result.backend);
      });
  if (n == 0) return {};
  return StrCat(", ", n, " of them not run again alone (--repeats)");
}

/// "onednn: ", or nothing for what is no backend's.
std::string Whose(const std::string& backend) {
  return backend.empty() ? "" : backend + ": ";
}

std::string GroupMarkdown(const Group& group) {
  constexpr size_t kCases = 5;
  constexpr size_t kMostId = 200;
  const verdict::Unexpected& first = group.first();
  std::string text = StrCat("- ", Whose(MarkdownLine(first.backend, kMostId)),
                            group.items.size(), " ", first.outcome, ": ",
                            MarkdownLine(first.reason, kMostReason), "\n");
  if (first.test_id.empty()) return text;
  for (size_t i = 0; i < std::min(group.items.size(), kCases); ++i) {
    text +=
        StrCat("  - ", MarkdownLine(group.items[i]->test_id, kMostId), "\n");
  }
  if (group.items.size() > kCases) {
    text += StrCat("  - and ", group.items.size() - kCases,
                   " more in summary.json\n");
  }
  const std::string& repro = first.repro;
  if (repro.empty() || repro.size() > kMostReason) return text;
  return StrCat(text, "  - repeat: `", repro, "`\n");
}

/// " 3 of 4 conformant: smpi is not (6 of 523 cases ... do not pass)."
std::string ConformanceText(const verdict::Verdicts& verdicts) {
  constexpr size_t kNamed = 3;
  constexpr size_t kMost = 200;
  size_t judged = 0;
  size_t good = 0;
  std::vector<std::string> others;
  for (const verdict::Conformance& word : verdicts.conformance) {
    const std::string why = record::OneLine(word.reason, kMost);
    if (word.verdict == "partial") {
      others.push_back(StrCat("no word on ", word.backend, " (", why, ")"));
      continue;
    }
    ++judged;
    if (word.verdict.starts_with("conformant")) {
      ++good;
    } else {
      others.push_back(StrCat(word.backend, " is not (", why, ")"));
    }
  }
  if (verdicts.conformance.empty()) return {};
  if (judged == 0) {
    return StrCat(" Conformance is not judged: ",
                  record::OneLine(verdicts.conformance[0].reason, kMost), ".");
  }
  const size_t named = std::min(others.size(), kNamed);
  return StrCat(" ", good, " of ", judged, " conformant", named > 0 ? ": " : "",
                Joined(std::span(others).first(named)),
                others.size() > named
                    ? StrCat(" and ", others.size() - named, " more")
                    : "",
                ".");
}

constexpr int64_t kLongRun = 500;  // cases that are worth lines of progress
constexpr std::chrono::milliseconds kEvery(100);

size_t ColumnsOf(int descriptor) {
  constexpr size_t kUsual = 80;
  winsize size = {};
  const bool told =
      ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : kUsual;
}

class ProgressLine {
 public:
  ProgressLine() = default;
  /// Ends a line that is written over, so that what follows has its own.
  ~ProgressLine() {
    if (width_ > 0) std::cerr << "\n" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const supervise::Progress& now) {
    if (done_at_first_ < 0) done_at_first_ = now.done;
    if (now.planned == 0) return;
    if (terminal_) return ShowBar(now);
    const int64_t tenth = 10 * now.done / now.planned;
    if (now.planned < kLongRun || tenth <= std::max<int64_t>(shown_, 0)) return;
    std::cerr << now.done << " of " << now.planned << " cases"
              << (now.unexpected > 0
                      ? StrCat(", ", now.unexpected, " unexpected")
                      : "")
              << "\n";
    shown_ = tenth;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void ShowBar(const supervise::Progress& now) {
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

  /// Seconds until the end, by the cases since the first look; negative where
  /// that is too early to say.
  double SecondsLeft(const supervise::Progress& now) const {
    constexpr double kSoon = 2;  // seconds
    const std::chrono::duration<double> took = Clock::now() - began_;
    const int64_t ran = now.done - done_at_first_;
    if (took.count() < kSoon || ran <= 0 || now.done == now.planned) return -1;
    return took.count() / static_cast<double>(ran) *
           static_cast<double>(now.planned - now.done);
  }

  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point shown_at_;
  int64_t done_at_first_ = -1;
  int64_t shown_ = -1;  // cases, or tenths of a run in a pipe
  size_t width_ = 0;    // of the line that stands there
};

}  // namespace

std::string TimeText(double seconds) {
  if (seconds < 9.5) return StrCat(select::Digits(seconds, 2), " s");
  if (seconds < 100) return StrCat(std::llround(seconds), " s");
  if (seconds < 6000) return StrCat(std::llround(seconds / 60), " min");
  return StrCat(std::llround(seconds / 3600), " h");
}

std::string MarkdownLine(std::string_view text, size_t most) {
  // Characters that Markdown, or the HTML in it, takes for its own.
  constexpr std::string_view kMarkup = "\\`*<>|[]#";
  std::string line;
  for (const char c : record::OneLine(text, most)) {
    if (kMarkup.find(c) != kMarkup.npos) line += '\\';
    line += c;
  }
  return line;
}

std::string UnexpectedText(const verdict::Verdicts& verdicts,
                           const select::Colours& colours) {
  const std::vector<verdict::Unexpected>& items = verdicts.unexpected;
  if (items.empty()) return {};
  const std::vector<Group> groups = GroupsOf(items);
  std::string text =
      StrCat("\n", colours.Heading(StrCat("unexpected: ", items.size())),
             NotRepeated(verdicts), "\n");
  for (size_t i = 0; i < std::min(groups.size(), kShown); ++i) {
    const verdict::Unexpected& first = groups[i].first();
    text +=
        StrCat("  ", Whose(first.backend), groups[i].items.size(), " ",
               colours.Outcome(first.outcome), ": ",
               record::OneLine(first.reason, kMostReason),
               first.test_id.empty() ? "" : "; first ", first.test_id, "\n");
    if (!first.repro.empty()) {
      text += StrCat("    repeat: ", first.repro, "\n");
    }
  }
  if (groups.size() > kShown) {
    text += StrCat("  and ", groups.size() - kShown,
                   " more kinds: assay list results, or summary.md\n");
  }
  return text;
}

std::string UnexpectedMarkdown(const verdict::Verdicts& verdicts) {
  constexpr size_t kMost = 60 << 10;  // bytes, before the last group
  if (verdicts.unexpected.empty()) return "\nNothing unexpected.\n";
  const std::vector<Group> groups = GroupsOf(verdicts.unexpected);
  std::string text = StrCat("\n## Unexpected: ", verdicts.unexpected.size(),
                            NotRepeated(verdicts), "\n\n");
  for (size_t i = 0; i < groups.size(); ++i) {
    if (text.size() > kMost) {
      return StrCat(text, "\nand ", groups.size() - i,
                    " more kinds in summary.json.\n");
    }
    text += GroupMarkdown(groups[i]);
  }
  return text;
}

std::string HeadlineText(const verdict::Verdicts& verdicts,
                         const select::Colours& colours) {
  if (!verdicts.unexpected.empty()) {
    return StrCat(
        colours.Bad(StrCat("Not as expected: ", verdicts.unexpected.size(),
                           " unexpected.")),
        ConformanceText(verdicts));
  }
  const bool idle = verdicts.ExitCode() != select::kExitOk;
  return StrCat(idle ? colours.Heading("Nothing judged: unavailable.")
                     : colours.Good("As expected."),
                ConformanceText(verdicts));
}

std::string UndecidedText(const verdict::Verdicts& verdicts) {
  std::string text;
  size_t count = 0;
  for (const record::Record& record : verdicts.final) {
    const record::ResultRow& row = record.result;
    if (row.reason_code != record::kUndecided || ++count > kShown) continue;
    text += StrCat(row.backend, ": ", row.test_id,
                   " is undecided: ", record::OneLine(row.message, kMostReason),
                   "\n");
  }
  if (count > kShown) {
    text += StrCat("and ", count - kShown,
                   " more: assay list results --filter reason:undecided\n");
  }
  return text;
}

std::string UnavailableText(const verdict::Verdicts& verdicts) {
  std::string text;
  for (const record::BackendRow& row : verdicts.backends) {
    if (!row.reach.empty()) {
      text += StrCat(row.backend, " could reach other processes: ",
                     record::OneLine(row.reach, kMostReason), "\n");
    }
    const bool is_missing =
        std::ranges::any_of(verdicts.final, [&](const record::Record& record) {
          return record.result.backend == row.backend &&
                 record.result.outcome == record::Outcome::kUnavailable;
        });
    const bool is_listed = std::ranges::any_of(
        verdicts.unexpected, [&](const verdict::Unexpected& item) {
          return item.backend == row.backend && item.outcome == "unavailable";
        });
    // A module that is broken fails its cases, which say so.
    if (row.unavailable_reason.empty() || !is_missing || is_listed) continue;
    text += StrCat(row.backend, " is unavailable: ",
                   record::OneLine(row.unavailable_reason, kMostReason), "\n");
  }
  return text;
}

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

std::function<void(const supervise::Progress&)> ShownProgress() {
  return [line = std::make_shared<ProgressLine>()](
             const supervise::Progress& now) { line->Show(now); };
}

}  // namespace assay::run
