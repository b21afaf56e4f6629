// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/assess/kill_matrix.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "framework/testing/record/outcome.h"

namespace assay::assess {
namespace {

constexpr std::string_view kRecheck = "recheck";
constexpr std::array<std::string_view, 7> kColumns = {
    "node",      "model",       "contract", "special",
    "gradcheck", "distributed", kRecheck};

std::string_view ColumnOf(const record::ResultRow& row) {
  const bool again = row.outcome == record::Outcome::kSuspect ||
                     row.message.find("run again: ") != std::string::npos;
  return again ? kRecheck : std::string_view(row.suite);
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

void KillMatrix::Add(const policy::MutantLine& mutant,
                     const std::vector<record::ResultRow>& results) {
  Entry entry{mutant, {}};
  for (const record::ResultRow& row : results) {
    if (!passing_.contains(row.test_id) || !record::IsFailure(row.outcome)) {
      continue;
    }
    Kills& kills = entry.by_suite[std::string(ColumnOf(row))];
    if (kills.cases++ == 0) kills.first = row.test_id;
  }
  entries_.push_back(std::move(entry));
}

std::string KillMatrix::Text() const {
  constexpr size_t kName = 28;
  constexpr size_t kApart = 2;
  std::string text = Padded("mutant", kName);
  std::vector<std::string_view> columns;
  std::ranges::copy_if(
      kColumns, std::back_inserter(columns), [&](std::string_view column) {
        return std::ranges::any_of(entries_, [&](const Entry& entry) {
          return entry.by_suite.contains(std::string(column));
        });
      });
  for (const std::string_view column : columns) {
    text += StrCat(std::string(kApart, ' '), column);
  }
  text += "\n";
  for (const Entry& entry : entries_) {
    text += Padded(entry.mutant.name, kName);
    for (const std::string_view column : columns) {
      const auto found = entry.by_suite.find(std::string(column));
      const std::string count = found == entry.by_suite.end()
                                    ? "-"
                                    : std::to_string(found->second.cases);
      const size_t width = kApart + column.size();
      text +=
          std::string(width - std::min(count.size(), width - 1), ' ') + count;
    }
    text += "\n";
  }
  return text;
}

std::vector<std::string> KillMatrix::Survivors() const {
  std::vector<std::string> survivors;
  for (const Entry& entry : entries_) {
    if (entry.by_suite.contains(entry.mutant.killer)) continue;
    std::string seen;
    for (const auto& [suite, kills] : entry.by_suite) {
      seen +=
          StrCat(seen.empty() ? ", only " : ", ", suite, " by ", kills.first);
    }
    survivors.push_back(StrCat(entry.mutant.name, ": not killed by ",
                               entry.mutant.killer, seen));
  }
  return survivors;
}

std::vector<record::MutantRow> KillMatrix::Rows() const {
  std::vector<record::MutantRow> rows;
  for (const Entry& entry : entries_) {
    record::MutantRow row;
    row.mutant = entry.mutant.name;
    row.mutant_class = entry.mutant.kind;
    row.expected_killer = entry.mutant.killer;
    row.suite = entry.mutant.killer;
    if (entry.by_suite.empty()) rows.push_back(row);
    for (const auto& [suite, kills] : entry.by_suite) {
      row.suite = row.killed_by = suite;
      row.killed = true;
      row.killing_case = kills.first;
      rows.push_back(row);
    }
  }
  return rows;
}

size_t KillMatrix::n_classes() const {
  std::set<std::string> classes;
  for (const Entry& entry : entries_) classes.insert(entry.mutant.kind);
  return classes.size();
}

}  // namespace assay::assess
