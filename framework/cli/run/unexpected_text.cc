// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/unexpected_text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/testing/record/clean_text.h"

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

std::string ReproOf(const verdict::Verdicts& verdicts,
                    const verdict::Unexpected& item) {
  for (const record::Record& record : verdicts.final) {
    const record::ResultRow& row = record.result;
    if (row.test_id == item.test_id && row.backend == item.backend) {
      return row.repro;
    }
  }
  return {};
}

/// What Markdown or the HTML in it takes for its own.
bool IsMarkup(char c) {
  return std::string_view("\\`*<>|[]#").find(c) != std::string_view::npos;
}

std::string GroupMarkdown(const verdict::Verdicts& verdicts,
                          const Group& group) {
  constexpr size_t kCases = 5;
  constexpr size_t kMostId = 200;
  const verdict::Unexpected& first = group.first();
  std::string text = StrCat("- ", MarkdownLine(first.backend, kMostId), ": ",
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
  const std::string repro = ReproOf(verdicts, first);
  if (repro.empty() || repro.size() > kMostReason) return text;
  return StrCat(text, "  - repeat: `", repro, "`\n");
}

}  // namespace

std::string MarkdownLine(std::string_view text, size_t most) {
  std::string line;
  for (const char c : record::OneLine(text, most)) {
    if (IsMarkup(c)) line += '\\';
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
        StrCat("  ", first.backend, ": ", groups[i].items.size(), " ",
               colours.Outcome(first.outcome), ": ",
               record::OneLine(first.reason, kMostReason),
               first.test_id.empty() ? "" : "; first ", first.test_id, "\n");
    const std::string repro =
        first.test_id.empty() ? "" : ReproOf(verdicts, first);
    if (!repro.empty()) text += StrCat("    repeat: ", repro, "\n");
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
    text += GroupMarkdown(verdicts, groups[i]);
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
    // A module that is broken fails its cases, which say so.
    if (row.unavailable_reason.empty() || !is_missing) continue;
    text += StrCat(row.backend, " is unavailable: ",
                   record::OneLine(row.unavailable_reason, kMostReason),
                   " (--allow-unavailable lets a run go without it)\n");
  }
  return text;
}

}  // namespace assay::run
