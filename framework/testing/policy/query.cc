// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/query.h"

#include <algorithm>

#include "framework/file/csv.h"
#include "framework/file/nearest.h"
#include "framework/graph/operator.h"

namespace assay::policy {

namespace {

/// With wildcards.
bool MatchesGlob(std::string_view pattern, std::string_view text) {
  // Only the last * has to be tried again: whatever an earlier one could take,
  // the last one can take as well.
  size_t p = 0;
  size_t t = 0;
  size_t behind_star = std::string_view::npos;
  size_t resume = t;  // in the text, where the star's part ends
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      behind_star = ++p;
      resume = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (behind_star != std::string_view::npos) {
      p = behind_star;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool MatchesNumber(const QueryTerm& word, int64_t number) {
  return word.compares == nullptr ? word.pattern.Matches(file::ToText(number))
                                  : word.compares(number, word.number);
}

/// Each rank of each operator's tensors is told, and as the word says.
bool MatchesRanks(const QueryTerm& word, const cases::TestCase& c) {
  return !c.ranks.empty() &&
         std::ranges::all_of(c.ranks, [&](const auto& of_operator) {
           return std::ranges::all_of(of_operator.second, [&](int rank) {
             return rank != cases::kNoRank && MatchesNumber(word, rank);
           });
         });
}

/// Some extent of the inputs' shapes, "[2,N];[0]", is as the word says.
bool MatchesExtents(const QueryTerm& word, std::string_view shapes) {
  const auto ends = [](char c) { return c < '0' || c > '9'; };
  while (!shapes.empty()) {
    const auto end = std::ranges::find_if(shapes, ends);
    const auto length = static_cast<size_t>(end - shapes.begin());
    const auto extent = file::ParseInt(shapes.substr(0, length));
    if (extent.has_value() && MatchesNumber(word, *extent)) return true;
    shapes.remove_prefix(std::min(length + 1, shapes.size()));
  }
  return false;
}

/// An instance is meant by all of it or by its name: onednn is also
/// onednn@3.13 and onednn+threads=1.
bool MatchesBackend(const Pattern& pattern, std::string_view instance) {
  return pattern.Matches(instance) ||
         pattern.Matches(instance.substr(0, instance.find_first_of("@+")));
}

bool MatchesAttribute(const QueryTerm& word, const cases::TestCase& c) {
  return std::ranges::any_of(c.attributes, [&](const auto& attribute) {
    return word.attribute.Matches(attribute.first) &&
           (!word.has_value || word.pattern.Matches(attribute.second));
  });
}

void AddOperators(const QueryTerm& term, std::vector<std::string>* names) {
  if (term.kind == QueryTerm::Kind::kNot) return;
  if (term.kind == QueryTerm::Kind::kWord && term.key == QueryKey::kOp &&
      term.pattern.exact()) {
    names->push_back(term.pattern.text());
  }
  for (const QueryTerm& child : term.children) AddOperators(child, names);
}

bool MatchesWord(const QueryTerm& word, const QuerySubject& subject) {
  using enum QueryKey;
  const cases::TestCase& c = subject.test_case;
  const Pattern& pattern = word.pattern;
  switch (word.key) {
    case kId:
    case kText:
      return pattern.Matches(c.test_id);
    case kSuite:
      return pattern.Matches(c.suite);
    case kOp:
      return pattern.Matches(c.op);
    case kDomain:
      return pattern.Matches(c.domain.empty() ? "ai.onnx" : c.domain);
    case kOpset:
      return MatchesNumber(word, c.opset);
    case kDtype:
      return std::ranges::any_of(
          c.dtypes, [&](const std::string& t) { return pattern.Matches(t); });
    case kKind:
      return pattern.Matches(c.kind);
    case kBackend:
      return MatchesBackend(pattern, subject.backend);
    case kCorpus:
      return pattern.Matches(c.corpus);
    case kComparator:
      return pattern.Matches(ToString(c.limit.comparator));
    case kAttr:
      return MatchesAttribute(word, c);
    case kVacuous:
      return pattern.Matches(c.vacuous.empty() ? "no" : "yes");
    case kOutcome:
      return pattern.Matches(subject.outcome);
    case kRank:
      return MatchesRanks(word, c);
    case kExtent:
      return MatchesExtents(word, c.shape_sig);
    case kReason:
      break;
  }
  return pattern.Matches(subject.reason);
}

bool MatchesTerm(const QueryTerm& term, const QuerySubject& subject) {
  const auto matches = [&](const QueryTerm& child) {
    return MatchesTerm(child, subject);
  };
  switch (term.kind) {
    case QueryTerm::Kind::kWord:
      return MatchesWord(term, subject);
    case QueryTerm::Kind::kAnd:
      return std::ranges::all_of(term.children, matches);
    case QueryTerm::Kind::kOr:
      return std::ranges::any_of(term.children, matches);
    case QueryTerm::Kind::kNot:
      break;
  }
  return !matches(term.children.front());
}

bool AsksFor(const QueryTerm& term, QueryKey key) {
  if (term.kind == QueryTerm::Kind::kWord) return term.key == key;
  return std::ranges::any_of(term.children, [key](const QueryTerm& child) {
    return AsksFor(child, key);
  });
}

std::vector<std::string> OnlyIdsOf(const QueryTerm& term) {
  const bool of_id = term.key == QueryKey::kId && term.pattern.exact();
  std::vector<std::string> ids;
  switch (term.kind) {
    case QueryTerm::Kind::kWord:
      if (of_id) ids.push_back(term.pattern.text());
      break;
    case QueryTerm::Kind::kNot:
      break;
    case QueryTerm::Kind::kAnd:
      for (const QueryTerm& child : term.children) {
        if (ids.empty()) ids = OnlyIdsOf(child);
      }
      break;
    case QueryTerm::Kind::kOr:
      for (const QueryTerm& child : term.children) {
        const auto some = OnlyIdsOf(child);
        if (some.empty()) return {};
        ids.insert(ids.end(), some.begin(), some.end());
      }
  }
  return ids;
}

}  // namespace

bool Pattern::Matches(std::string_view text) const {
  return exact_ ? text == text_ : MatchesGlob(text_, text);
}

Query::Query() {
  static const auto everything = std::make_shared<const QueryTerm>(
      QueryTerm{.kind = QueryTerm::Kind::kAnd});
  root_ = everything;
}

bool Query::Matches(const QuerySubject& subject) const {
  return MatchesTerm(*root_, subject);
}

bool Query::NeedsOutcome() const {
  return AsksFor(*root_, QueryKey::kOutcome) ||
         AsksFor(*root_, QueryKey::kReason);
}

std::vector<std::string> Query::OperatorsNamed() const {
  std::vector<std::string> names;
  AddOperators(*root_, &names);
  return names;
}

std::string Query::DidYouMean() const {
  std::vector<std::string> known;
  for (const OperatorInfo& info : Operators()) {
    known.push_back(cases::OperatorName(info.domain, info.name));
  }
  for (const std::string& name : OperatorsNamed()) {
    if (std::ranges::find(known, name) == known.end()) {
      return file::DidYouMean(name, known);
    }
  }
  return {};
}

std::vector<std::string> Query::OnlyIds() const { return OnlyIdsOf(*root_); }

std::string Query::AsksOfCase() const {
  for (const QueryKey key :
       {QueryKey::kId, QueryKey::kSuite, QueryKey::kKind, QueryKey::kCorpus,
        QueryKey::kComparator, QueryKey::kVacuous}) {
    if (AsksFor(*root_, key)) {
      return StrCat(kQueryKeys.at(static_cast<size_t>(key)), ":");
    }
  }
  return AsksFor(*root_, QueryKey::kText) ? "a text" : "";
}

bool Query::NeedsAttributes() const { return AsksFor(*root_, QueryKey::kAttr); }

bool Query::NeedsRanks() const { return AsksFor(*root_, QueryKey::kRank); }

bool Query::NeedsBackend() const { return AsksFor(*root_, QueryKey::kBackend); }

}  // namespace assay::policy
