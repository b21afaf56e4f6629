// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/floor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "framework/file/digest.h"

namespace assay::policy {
namespace {

using Kind = FloorLine::Kind;

/// Applies one line to a case that it is about.
void Apply(const FloorLine& line, bool met, std::optional<FloorCase>* state) {
  const bool adds = line.kind != Kind::kButNot;
  if (line.when.empty()) {
    state->reset();
    if (adds) state->emplace();
  } else if (adds) {
    if (!state->has_value()) *state = FloorCase{"", false};
    if ((*state)->in_force && (*state)->conditions.empty()) return;
    (*state)->conditions += StrCat(" ", line.when.text());
    (*state)->in_force = (*state)->in_force || met;
  } else if (state->has_value()) {
    (*state)->conditions += StrCat(" but not ", line.when.text());
    (*state)->in_force = (*state)->in_force && !met;
  }
}

std::map<std::string, FloorCount> CountsOf(const FloorCases& cases) {
  std::map<std::string, FloorCount> counts;
  for (const auto& [test_id, c] : cases) {
    FloorCount& suite = counts[test_id.substr(0, test_id.find('/'))];
    ++suite.cases;
    suite.digest += StrCat(test_id, c.conditions, "\n");
  }
  constexpr size_t kDigits = 16;
  for (auto& [suite, count] : counts) {
    count.digest = file::Sha256(count.digest).substr(0, kDigits);
  }
  return counts;
}

std::string ToText(const std::string& suite, const FloorCount& count) {
  return StrCat("makes ", count.cases, " cases of ", suite, " digest ",
                count.digest);
}

std::string ToText(const FloorLine& rule) {
  return StrCat(rule.kind == Kind::kAll ? "all" : "but not", " where ",
                rule.where.text(), rule.when.empty() ? "" : " ",
                rule.when.text());
}

}  // namespace

Status Floor::Add(FloorLine line, std::string source, bool met) {
  if (line.kind == Kind::kMakes) {
    for (const Rule& stated : stated_) {
      if (stated.line.name != line.name) continue;
      return InvalidArgument("the suite ", line.name,
                             " is counted a second time");
    }
    stated_.push_back({std::move(line), std::move(source)});
  } else if (line.kind == Kind::kCase) {
    std::optional<FloorCase> state;
    Apply(line, met, &state);
    if (!named_.emplace(line.name, *state).second) {
      return InvalidArgument(line.name, " is listed a second time");
    }
    cases_.emplace(line.name, *std::move(state));
  } else {
    rules_.push_back({std::move(line), std::move(source), met});
  }
  return OkStatus();
}

void Floor::Consider(const cases::TestCase& planned) {
  if (planned.tier > cases::Tier::kCi) return;
  if (named_.contains(planned.test_id)) return;
  std::optional<FloorCase> state;
  for (Rule& rule : rules_) {
    if (!rule.line.where.Matches({planned, {}, {}, {}})) continue;
    ++rule.matched;
    Apply(rule.line, rule.met, &state);
  }
  if (state.has_value()) {
    cases_.insert_or_assign(planned.test_id, *std::move(state));
  } else {
    cases_.erase(planned.test_id);
  }
}

std::vector<std::string> Floor::InForce() const {
  std::vector<std::string> test_ids;
  for (const auto& [test_id, c] : cases_) {
    if (c.in_force) test_ids.push_back(test_id);
  }
  return test_ids;
}

std::vector<std::string> Floor::Changes(bool with_grown) const {
  std::vector<std::string> changes;
  auto counts = CountsOf(cases_);
  for (const Rule& stated : stated_) {
    const FloorCount found = counts[stated.line.name];
    const FloorCount& wanted = stated.line.makes;
    if (found == wanted) continue;
    if (!with_grown && found.cases > wanted.cases) continue;
    changes.push_back(StrCat(
        stated.source, ": the lines make ", found.cases, " planned cases of ",
        stated.line.name, ", digest ", found.digest, ", wanted ", wanted.cases,
        ", digest ", wanted.digest, ": cases left the plan or came to it"));
  }
  return changes;
}

std::vector<std::string> Floor::Losses() const {
  return Changes(/*with_grown=*/false);
}

std::vector<std::string> Floor::Errors() const {
  std::vector<std::string> errors = Changes(/*with_grown=*/true);
  if (rules_.empty()) return errors;
  for (const Rule& rule : rules_) {
    if (rule.matched > 0) continue;
    errors.push_back(StrCat(rule.source, ": ", ToText(rule.line),
                            ": matches no planned case"));
  }
  for (const auto& [suite, count] : CountsOf(cases_)) {
    const bool counted = std::ranges::any_of(
        stated_, [&](const Rule& rule) { return rule.line.name == suite; });
    if (counted) continue;
    errors.push_back(StrCat("passing.txt: the cases of ", suite,
                            " are not counted, wanted a line '",
                            ToText(suite, count), "'"));
  }
  return errors;
}

namespace {

/// Text and rules side by side, so that what is written is what is meant.
class FloorWriter {
 public:
  FloorWriter(const FloorCases& wanted,
              const std::vector<const cases::TestCase*>& planned)
      : wanted_(wanted), planned_(planned) {}

  std::string Write(std::string_view before) {
    Keep(before);
    if (!has_rules_) MakeRules();
    Correct();
    NameCases();
    for (const auto& [suite, count] : CountsOf(wanted_)) {
      text_ += ToText(suite, count) + "\n";
    }
    return std::move(text_);
  }

 private:
  /// Test_ids by suite and operator.
  using Groups =
      std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

  bool InEverywhere(const cases::TestCase& c) const {
    const auto found = wanted_.find(c.test_id);
    return found != wanted_.end() && found->second.conditions.empty();
  }

  void Keep(std::string_view before);
  void MakeRules();
  void MakeRules(const std::string& suite,
                 const std::map<std::string, int64_t>& balances);
  void Correct();
  void NameCases();

  void Add(FloorLine line, std::string_view text) {
    text_ += StrCat(text, "\n");
    has_rules_ = true;
    // Rules alone: there is no second line about the same case.
    static_cast<void>(rules_.Add(std::move(line), "", true).ok());
  }
  void Say(std::string_view text) { Add(*ParseFloorLine(text), text); }

  const FloorCases& wanted_;
  const std::vector<const cases::TestCase*>& planned_;
  std::string text_;
  Floor rules_;
  bool has_rules_ = false;
};

/// Comments, and rules that say more than a list of ids.
void FloorWriter::Keep(std::string_view before) {
  while (!before.empty()) {
    const std::string_view line = CutFront(&before);
    Result<FloorLine> parsed = ParseFloorLine(line);
    if (!parsed.ok()) {
      text_ += StrCat(line, "\n");
    } else if (parsed->kind == Kind::kAll || parsed->kind == Kind::kButNot) {
      const bool correction =
          parsed->when.empty() && IdsOf(parsed->where.text()).has_value();
      if (!correction) Add(*std::move(parsed), line);
    }
  }
}

void FloorWriter::MakeRules() {
  // By suite and operator, how many more cases are in than out.
  std::map<std::string, std::map<std::string, int64_t>> balances;
  for (const cases::TestCase* c : planned_) {
    balances[c->suite][c->op] += InEverywhere(*c) ? 1 : -1;
  }
  for (const auto& [suite, operators] : balances) MakeRules(suite, operators);
}

void FloorWriter::MakeRules(const std::string& suite,
                            const std::map<std::string, int64_t>& balances) {
  std::string most;
  std::string fewest;
  int64_t ahead = 0;
  for (const auto& [op, balance] : balances) {
    std::string& list = balance > 0 ? most : fewest;
    list += StrCat(list.empty() ? "op:" : " or op:", op);
    ahead += balance > 0 ? 1 : -1;
  }
  if (ahead > 0) {
    Say(StrCat("all where suite:", suite));
    if (fewest.empty()) return;
    Say(StrCat("but not where suite:", suite, " and (", fewest, ")"));
  } else if (!most.empty()) {
    Say(StrCat("all where suite:", suite, " and (", most, ")"));
  }
}

void FloorWriter::Correct() {
  Groups gone;
  Groups come;
  for (const cases::TestCase* c : planned_) {
    rules_.Consider(*c);
    const bool ruled = rules_.cases().contains(c->test_id);
    const bool wanted = wanted_.contains(c->test_id);
    if (ruled && !wanted) gone[{c->suite, c->op}].push_back(c->test_id);
    if (!InEverywhere(*c)) continue;
    if (ruled && rules_.cases().find(c->test_id)->second.conditions.empty()) {
      continue;
    }
    come[{c->suite, c->op}].push_back(c->test_id);
  }
  for (const auto& [group, ids] : gone) {
    Say(StrCat("but not where ", QueryOf(ids)));
  }
  for (const auto& [group, ids] : come) Say(StrCat("all where ", QueryOf(ids)));
}

/// Those with conditions, and those that are not planned.
void FloorWriter::NameCases() {
  for (const cases::TestCase* c : planned_) rules_.Consider(*c);
  for (const auto& [test_id, c] : wanted_) {
    const auto ruled = rules_.cases().find(test_id);
    if (ruled != rules_.cases().end() &&
        ruled->second.conditions == c.conditions) {
      continue;
    }
    text_ += StrCat(test_id, c.conditions, "\n");
  }
}

}  // namespace

std::string WriteFloor(std::string_view before, const FloorCases& wanted,
                       const std::vector<const cases::TestCase*>& planned) {
  return FloorWriter(wanted, planned).Write(before);
}

}  // namespace assay::policy
