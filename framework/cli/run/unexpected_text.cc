// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/unexpected_text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <tuple>
#include <vector>

namespace assay::run {
namespace {

constexpr size_t kShown = 10;        // groups
constexpr size_t kMostReason = 400;  // of a reason, bytes

struct Group {
  const verdict::Unexpected* first;
  int64_t count = 0;
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
    Group& group =
        groups
            .try_emplace({item.backend, item.outcome, Kind(item.reason)},
                         Group{&item})
            .first->second;
    ++group.count;
  }
  std::vector<Group> sorted;
  for (const auto& [key, group] : groups) sorted.push_back(group);
  std::ranges::sort(sorted, [](const Group& a, const Group& b) {
    return std::tie(b.count, a.first) < std::tie(a.count, b.first);
  });
  return sorted;
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

std::string Shortened(std::string text) {
  if (text.size() <= kMostReason) return text;
  text.resize(kMostReason);
  return text + " ...";
}

}  // namespace

std::string UnexpectedText(const verdict::Verdicts& verdicts) {
  const std::vector<verdict::Unexpected>& items = verdicts.unexpected;
  if (items.empty()) return {};
  const std::vector<Group> groups = GroupsOf(items);
  std::string text = StrCat("\nunexpected: ", items.size(), "\n");
  for (size_t i = 0; i < std::min(groups.size(), kShown); ++i) {
    const verdict::Unexpected& first = *groups[i].first;
    text +=
        StrCat("  ", first.backend, ": ", groups[i].count, " ", first.outcome,
               ": ", Shortened(first.reason),
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

std::string UnavailableText(const verdict::Verdicts& verdicts) {
  std::string text;
  for (const record::BackendRow& row : verdicts.backends) {
    if (row.unavailable_reason.empty()) continue;
    text += StrCat(row.backend,
                   " is unavailable: ", Shortened(row.unavailable_reason),
                   " (--allow-unavailable lets a run go without it)\n");
  }
  return text;
}

}  // namespace assay::run
