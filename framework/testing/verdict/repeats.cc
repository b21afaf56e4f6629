// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/repeats.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace assay::verdict {
namespace {

/// The corpora that a command names.
std::set<std::string> CorporaIn(std::string_view command) {
  constexpr std::string_view kOption = " --corpus ";
  std::set<std::string> corpora;
  for (size_t at = command.find(kOption); at != command.npos;
       at = command.find(kOption, at)) {
    at += kOption.size();
    const size_t end = std::min(command.find(" --", at), command.size());
    corpora.emplace(command.substr(at, end - at));
  }
  return corpora;
}

/// So many attempts have a pass only once in a thousand times, where `passed`
/// of `all` did.
int64_t AttemptsFor(int64_t passed, int64_t all) {
  constexpr double kOnce = 1e-3;
  constexpr int64_t kLeast = 10;
  const double passes = static_cast<double>(passed) / static_cast<double>(all);
  return std::max(kLeast, static_cast<int64_t>(
                              std::ceil(std::log(kOnce) / std::log(passes))));
}

/// The rows of a plan that those ids name, on the backend of `row`.
std::vector<const record::PlanRow*> RowsOf(
    const plan::Plan& plan, const record::PlanRow& row,
    const std::vector<std::string>& ids) {
  std::vector<const record::PlanRow*> rows;
  for (const record::PlanRow& other : plan.rows) {
    if (other.backend == row.backend &&
        std::ranges::find(ids, other.test_id) != ids.end()) {
      rows.push_back(&other);
    }
  }
  return rows;
}

/// The command of the case behind those of `spoiled`.
std::string Behind(const plan::Plan& plan, const record::PlanRow& row,
                   const record::ResultRow& spoiled,
                   const CommandOf& command_of) {
  std::string command = command_of(plan, row);
  const std::string own = StrCat("'id:", row.test_id, "'");
  const size_t at = command.find(own);
  if (at == command.npos) return command;
  const auto before = RowsOf(plan, row, Words(spoiled.after));
  std::string filter = "'";
  std::set<std::string> named = CorporaIn(command);
  std::set<std::string> unnamed;
  const auto add = [&](const record::PlanRow& one) {
    const std::set<std::string> corpora = CorporaIn(command_of(plan, one));
    named.insert(corpora.begin(), corpora.end());
    if (corpora.empty()) unnamed.insert(one.corpus);
  };
  for (const record::PlanRow* const one : before) {
    filter += StrCat("id:", one->test_id, " or ");
    add(*one);
  }
  add(row);
  command.replace(at, own.size(), StrCat(filter, own.substr(1)));
  // Where one is named, the default ones are left out.
  if (!named.empty()) named.merge(unnamed);
  for (const std::string& corpus : CorporaIn(command)) named.erase(corpus);
  for (const std::string& corpus : named) {
    command += StrCat(" --corpus ", corpus);
  }
  // Only an order that was drawn has a later row first.
  const bool shuffled = !before.empty() && before.back() > &row;
  return StrCat(command, shuffled ? " --shuffle" : "", " --jobs 1");
}

}  // namespace

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

Stability StabilityOf(record::Outcome first,
                      std::span<const record::ResultRow> repeats) {
  if (repeats.empty()) return {};
  int alone = 0;
  int passed_alone = 0;
  int passed = first == record::Outcome::kPass ? 1 : 0;
  int crashed_alone = 0;
  const record::ResultRow* last_alone = nullptr;
  const record::ResultRow* spoiled = nullptr;
  for (const record::ResultRow& row : repeats) {
    const bool passes = row.outcome == record::Outcome::kPass;
    passed += passes ? 1 : 0;
    if (row.after.empty()) {
      ++alone;
      passed_alone += passes ? 1 : 0;
      crashed_alone += row.outcome == record::Outcome::kCrash ? 1 : 0;
      last_alone = &row;
    } else if (!passes) {
      spoiled = &row;
    }
  }
  if (passed == 0 && first == record::Outcome::kCrash && crashed_alone == 0 &&
      last_alone != nullptr) {
    const auto same = std::ranges::count_if(repeats, [&](const auto& row) {
      return row.after.empty() && row.outcome == last_alone->outcome;
    });
    return {Stability::Kind::kCrashesBehind,
            StrCat("crashes behind other cases only: alone ",
                   last_alone->outcome, " ", same, " of ", alone, " times",
                   spoiled != nullptr && spoiled->outcome == first
                       ? StrCat(", crash after ", AfterText(spoiled->after))
                       : std::string()),
            last_alone};
  }
  if (passed == 0) {
    return {Stability::Kind::kDeterministic,
            StrCat("no pass in ", alone + 1, " attempts")};
  }
  if (spoiled != nullptr && passed_alone == alone) {
    return {Stability::Kind::kOrderDependent,
            StrCat("order-dependent: passes alone ", passed_alone, " of ",
                   alone, " times, ", spoiled->outcome, " after ",
                   AfterText(spoiled->after))};
  }
  if (passed == std::ssize(repeats) + 1) return {};
  return {Stability::Kind::kFlaky, StrCat("flaky: passes ", passed, " of ",
                                          repeats.size() + 1, " times")};
}

std::string RepeatOf(const plan::Plan& plan, const record::PlanRow& row,
                     record::Outcome first,
                     std::span<const record::ResultRow> repeats,
                     const CommandOf& command_of) {
  const Stability::Kind kind = StabilityOf(first, repeats).kind;
  const auto passes = [](const record::ResultRow& repeat) {
    return repeat.outcome == record::Outcome::kPass;
  };
  if (kind == Stability::Kind::kFlaky) {
    const int64_t passed = std::ranges::count_if(repeats, passes) +
                           (first == record::Outcome::kPass ? 1 : 0);
    return StrCat(command_of(plan, row), " --attempts ",
                  AttemptsFor(passed, std::ssize(repeats) + 1));
  }
  // Alone it never passes, but does something else than behind others.
  const bool differs =
      kind == Stability::Kind::kDeterministic &&
      std::ranges::none_of(repeats, [&](const record::ResultRow& repeat) {
        return repeat.after.empty() && repeat.outcome == first;
      });
  const auto spoiled =
      std::ranges::find_if(repeats, [&](const record::ResultRow& repeat) {
        return !repeat.after.empty() &&
               (differs ? repeat.outcome == first : !passes(repeat));
      });
  if ((!differs && kind != Stability::Kind::kOrderDependent) ||
      spoiled == repeats.end()) {
    return command_of(plan, row);
  }
  return Behind(plan, row, *spoiled, command_of);
}

std::string AfterText(const std::string& after) {
  const std::vector<std::string> ids = Words(after);
  if (ids.size() < 2 || after.find(", from ") != after.npos) return after;
  return StrCat(ids.size(), " cases, from ", ids.front(), " to ", ids.back());
}

}  // namespace assay::verdict
