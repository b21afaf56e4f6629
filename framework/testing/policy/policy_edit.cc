// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/policy_edit.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/policy/policy_line.h"

namespace assay::policy {
namespace {

constexpr std::string_view kExpectations = "expectations.txt";
constexpr std::string_view kPassing = "passing.txt";

/// Lines with their ends, so that joined they are the text again.
std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string Listed(const std::vector<std::string>& ids) {
  constexpr size_t kNamed = 5;
  if (ids.size() <= kNamed) return Joined(ids);
  return StrCat(Joined(std::span(ids).first(kNamed)), " and ",
                ids.size() - kNamed, " more");
}

/// A message in one line of plain characters, for a comment.
std::string Brief(std::string_view message) {
  constexpr size_t kLength = 120;
  std::string text(message.substr(0, kLength));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, ' ');
  return text;
}

}  // namespace

/// Decides line by line and case by case, then writes the texts.
class PolicyEditor {
 public:
  PolicyEditor(Policy policy, const PolicyTexts& texts,
               std::string_view backend, const std::vector<SeenCase>& seen,
               const EditRules& rules)
      : policy_(std::move(policy)),
        backend_(backend),
        seen_(seen),
        rules_(rules),
        edit_{texts, {}, {}} {}

  PolicyEdit Edit() {
    MatchLines();
    NoteOutdated();
    AddExpectations();
    if (rules_.remove) RemoveExpectations();
    if (rules_.remove) NarrowExpectations();
    WriteExpectations();
    EditFloor();
    return std::move(edit_);
  }

 private:
  /// A line in force, or one that is to be added.
  struct Line {
    const Expectation* said = nullptr;                 // null: to be added
    record::Outcome outcome = record::Outcome::kFail;  // of an expect line
    bool at_some_seeds = false;
    bool tolerates = false;
    std::vector<size_t> matched;  // indices of cases
    bool removed = false;
    bool named = false;    // of no use, and not ours to remove
    std::string narrowed;  // another query, where not empty
    std::string text;      // of a line to be added
  };

  bool Matches(const Query& where, const SeenCase& c) const {
    return where.Matches({*c.test_case, backend_, {}, {}});
  }

  void MatchLines();
  void NoteOutdated();
  void AddExpectations();
  void AddLine(record::Outcome outcome, const std::vector<size_t>& cases);
  void RemoveExpectations();
  void NarrowExpectations();
  void Narrow(Line* line, const std::vector<std::string>& needless);
  void WriteExpectations();
  void EditFloor();
  void DropFromFloor(FloorCases* cases);

  /// The expect, or tolerate, line that decides a case; null without one.
  const Line* Decides(size_t index, bool tolerates) const;
  /// True when a case is as well without this line.
  bool DoesWithout(const Line& line, const SeenCase& c) const;
  bool Removable(const Line& line) const;
  /// The file's line, from 0; nothing for one of an included file.
  static std::optional<size_t> NumberOf(const Line& line);
  /// True when the line may be changed here: it is of this file, and for all
  /// instances and places.
  static bool IsOurs(const Line& line);
  bool PassesPlainly(size_t index) const;

  Policy policy_;
  const std::string_view backend_;
  const std::vector<SeenCase>& seen_;
  const EditRules rules_;
  PolicyEdit edit_;
  std::vector<Line> lines_;
  std::set<size_t> past_their_line_;  // cases of outdated lines
};

void PolicyEditor::MatchLines() {
  for (const Expectation& said : policy_.expectations()) {
    Line& line = lines_.emplace_back();
    line.said = &said;
    line.at_some_seeds = said.at_some_seeds;
    line.tolerates = said.tolerance.has_value();
    line.outcome = said.outcome.value_or(record::Outcome::kFail);
  }
  for (size_t i = 0; i < seen_.size(); ++i) {
    for (Line& line : lines_) {
      if (Matches(line.said->where, seen_[i])) line.matched.push_back(i);
    }
    policy_.Of(*seen_[i].test_case, backend_);  // for the floor
  }
}

void PolicyEditor::NoteOutdated() {
  for (const Expectation& said : policy_.outdated()) {
    std::vector<std::string> wrong;
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (!Matches(said.where, seen_[i])) continue;
      past_their_line_.insert(i);
      if (seen_[i].raw != record::Outcome::kPass) {
        wrong.push_back(seen_[i].test_case->test_id);
      }
    }
    edit_.by_hand.push_back(
        StrCat(said.source, " was good until ", said.until, ": ",
               wrong.empty()
                   ? "all its cases pass, take it out"
                   : StrCat("give it a later date or mend ", Listed(wrong))));
  }
}

void PolicyEditor::AddExpectations() {
  std::map<std::pair<std::string, record::Outcome>, std::vector<size_t>> groups;
  std::vector<std::string> declined;
  for (size_t i = 0; i < seen_.size(); ++i) {
    const SeenCase& c = seen_[i];
    if (c.declined) declined.push_back(c.test_case->test_id);
    const bool is_wrong =
        record::IsFailure(c.raw) || c.raw == record::Outcome::kFlaky;
    if (c.declined || !is_wrong || past_their_line_.contains(i)) continue;
    const Line* line = Decides(i, /*tolerates=*/false);
    if (line != nullptr && line->outcome == c.raw) continue;
    groups[{c.test_case->op, c.raw}].push_back(i);
  }
  for (const auto& [key, cases] : groups) AddLine(key.second, cases);
  if (!declined.empty()) {
    edit_.by_hand.push_back(
        StrCat("narrow claims.txt, or mend: declined inside the claims are ",
               Listed(declined)));
  }
}

void PolicyEditor::AddLine(record::Outcome outcome,
                           const std::vector<size_t>& cases) {
  std::vector<std::string> ids;
  ids.reserve(cases.size());
  for (const size_t i : cases) ids.push_back(seen_[i].test_case->test_id);
  Line& line = lines_.emplace_back();
  line.outcome = outcome;
  line.matched = cases;
  const std::string said = StrCat("expect ", outcome, " where ", QueryOf(ids));
  line.text = StrCat("# ", Brief(seen_[cases[0]].message), "\n", said,
                     " because \"\"\n");
  edit_.changes.push_back(StrCat(kExpectations, ": + ", said));
}

const PolicyEditor::Line* PolicyEditor::Decides(size_t index,
                                                bool tolerates) const {
  for (size_t i = lines_.size(); i-- > 0;) {
    const Line& line = lines_[i];
    if (!line.removed && line.tolerates == tolerates &&
        std::ranges::binary_search(line.matched, index)) {
      return &line;
    }
  }
  return nullptr;
}

bool PolicyEditor::DoesWithout(const Line& line, const SeenCase& c) const {
  if (line.tolerates) return c.raw == record::Outcome::kPass && !c.waived;
  // One pass says nothing about a case that passes sometimes.
  if (line.outcome == record::Outcome::kFlaky) return false;
  if (c.raw == record::Outcome::kPass) return !line.at_some_seeds;
  return c.raw == record::Outcome::kUnsupported &&
         line.outcome != record::Outcome::kUnsupported;
}

bool PolicyEditor::Removable(const Line& line) const {
  const bool needless = std::ranges::all_of(
      line.matched, [&](size_t i) { return DoesWithout(line, seen_[i]); });
  if (needless) return true;  // also where it matches none
  return std::ranges::none_of(line.matched, [&](size_t i) {
    return Decides(i, line.tolerates) == &line;
  });
}

std::optional<size_t> PolicyEditor::NumberOf(const Line& line) {
  const std::string_view source = line.said->source;
  const std::string prefix = StrCat(kExpectations, ":");
  if (!source.starts_with(prefix)) return std::nullopt;
  const auto number = file::ParseInt(source.substr(prefix.size()));
  if (!number.has_value()) return std::nullopt;
  return static_cast<size_t>(*number - 1);
}

bool PolicyEditor::IsOurs(const Line& line) {
  return NumberOf(line).has_value() && line.said->when.empty() &&
         line.said->where.text().find("backend:") == std::string::npos;
}

void PolicyEditor::RemoveExpectations() {
  std::vector<size_t> going;
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].said == nullptr || !Removable(lines_[i])) continue;
    if (IsOurs(lines_[i])) {
      going.push_back(i);
    } else {
      lines_[i].named = true;
      edit_.by_hand.push_back(
          StrCat(lines_[i].said->source,
                 " is of no use here, and is shared with others"));
    }
  }
  // Together: what one line leaves to a later one, that one may leave too.
  for (const size_t i : going) {
    lines_[i].removed = true;
    edit_.changes.push_back(StrCat(lines_[i].said->source, ": - where ",
                                   lines_[i].said->where.text()));
  }
}

void PolicyEditor::NarrowExpectations() {
  for (Line& line : lines_) {
    if (line.said == nullptr || line.removed || line.named || line.tolerates) {
      continue;
    }
    std::vector<std::string> needless;
    for (const size_t i : line.matched) {
      if (Decides(i, line.tolerates) == &line && DoesWithout(line, seen_[i])) {
        needless.push_back(seen_[i].test_case->test_id);
      }
    }
    Narrow(&line, needless);
  }
}

void PolicyEditor::Narrow(Line* line,
                          const std::vector<std::string>& needless) {
  const std::string& query = line->said->where.text();
  const auto ids = IdsOf(query);
  if (!IsOurs(*line) || !ids.has_value()) {
    if (needless.empty()) return;
    edit_.by_hand.push_back(StrCat(line->said->source, ": narrow '", query,
                                   "', which ", needless.size(), " of its ",
                                   line->matched.size(),
                                   " cases do without: ", Listed(needless)));
    return;
  }
  std::vector<std::string> kept;
  for (const std::string& id : *ids) {
    const bool planned = std::ranges::any_of(line->matched, [&](size_t i) {
      return seen_[i].test_case->test_id == id;
    });
    if (planned && std::ranges::find(needless, id) == needless.end()) {
      kept.push_back(id);
    } else {
      edit_.changes.push_back(StrCat(line->said->source, ": - id:", id));
    }
  }
  if (kept.size() == ids->size()) return;
  line->narrowed = QueryOf(kept);
  std::erase_if(line->matched, [&](size_t i) {
    return std::ranges::find(kept, seen_[i].test_case->test_id) == kept.end();
  });
}

void PolicyEditor::WriteExpectations() {
  std::vector<std::string> text = LinesOf(edit_.texts.expectations);
  std::string added;
  for (const Line& line : lines_) {
    if (line.said == nullptr) {
      added += line.text;
    } else if (line.removed) {
      text.at(*NumberOf(line)).clear();
    } else if (!line.narrowed.empty()) {
      std::string& whole = text.at(*NumberOf(line));
      const std::string& query = line.said->where.text();
      whole.replace(whole.find(query), query.size(), line.narrowed);
    }
  }
  edit_.texts.expectations = Joined(text, "");
  if (added.empty()) return;
  std::string& all = edit_.texts.expectations;
  if (!all.empty() && !all.ends_with('\n')) all += '\n';
  all += added;
}

bool PolicyEditor::PassesPlainly(size_t index) const {
  const SeenCase& c = seen_[index];
  if (c.raw != record::Outcome::kPass || c.waived) return false;
  const Line* line = Decides(index, /*tolerates=*/false);
  return line == nullptr || line->outcome == record::Outcome::kFlaky;
}

void PolicyEditor::EditFloor() {
  const bool whole = rules_.remove;
  if (whole && !rules_.drop && !policy_.floor().Losses().empty()) {
    for (const std::string& loss : policy_.floor().Losses()) {
      edit_.by_hand.push_back(StrCat(loss, ", --drop counts anew"));
    }
    return;
  }
  const std::string before = edit_.texts.passing;
  const size_t n_changes = edit_.changes.size();
  std::string& text = edit_.texts.passing;
  FloorCases wanted = policy_.floor().cases();
  std::vector<const cases::TestCase*> planned;
  for (size_t i = 0; i < seen_.size(); ++i) {
    const std::string& id = seen_[i].test_case->test_id;
    planned.push_back(seen_[i].test_case);
    if (!PassesPlainly(i) || !wanted.try_emplace(id).second) continue;
    edit_.changes.push_back(StrCat(kPassing, ": + ", id));
    if (whole) continue;
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += id + "\n";
  }
  DropFromFloor(&wanted);
  if (!whole) return;
  text = WriteFloor(text, wanted, planned);
  if (text != before && edit_.changes.size() == n_changes) {
    edit_.changes.push_back(StrCat(kPassing, ": the same cases, by rules"));
  }
}

void PolicyEditor::DropFromFloor(FloorCases* cases) {
  std::map<std::string, size_t, std::less<>> planned;
  for (size_t i = 0; i < seen_.size(); ++i) {
    planned.emplace(seen_[i].test_case->test_id, i);
  }
  std::vector<std::string> lost;
  for (const std::string& id : policy_.floor().InForce()) {
    const auto found = planned.find(id);
    if (found == planned.end()) {
      if (rules_.remove) lost.push_back(id);
      continue;
    }
    // A case that could not be asked is not lost.
    const record::Outcome raw = seen_[found->second].raw;
    const bool known = raw != record::Outcome::kUnavailable &&
                       raw != record::Outcome::kMissing;
    if (known && !PassesPlainly(found->second)) lost.push_back(id);
  }
  if (lost.empty()) return;
  if (!rules_.drop) {
    edit_.by_hand.push_back(
        StrCat(kPassing, ": ", lost.size(),
               " cases are lost, --drop takes them out: ", Listed(lost)));
    return;
  }
  for (const std::string& id : lost) {
    edit_.changes.push_back(StrCat(kPassing, ": - ", id));
    cases->erase(id);
  }
}

PolicyEdit EditPolicy(Policy policy, const PolicyTexts& texts,
                      std::string_view backend,
                      const std::vector<SeenCase>& seen,
                      const EditRules& rules) {
  return PolicyEditor(std::move(policy), texts, backend, seen, rules).Edit();
}

}  // namespace assay::policy
