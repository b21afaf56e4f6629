// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/query.h"

#include <algorithm>

#include "framework/testing/csv.h"
#include "framework/testing/query_term.h"

namespace assay::inline v1 {

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  // Only the last * has to be tried again: whatever an earlier one could take,
  // the last one can take as well.
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

namespace {

using Term = Query::Term;

bool Compares(int64_t value, Comparison comparison, int64_t number) {
  switch (comparison) {
    case Comparison::kEqual:
      return value == number;
    case Comparison::kLess:
      return value < number;
    case Comparison::kGreater:
      return value > number;
    case Comparison::kAtMost:
      return value <= number;
    case Comparison::kAtLeast:
      return value >= number;
    case Comparison::kMatch:
      break;
  }
  return false;
}

bool MatchesOpset(const Term& word, int64_t opset) {
  return word.comparison == Comparison::kMatch
             ? MatchesPattern(word.pattern, ToText(opset))
             : Compares(opset, word.comparison, word.number);
}

/// An instance is meant by all of it or by its name: onednn is also
/// onednn@3.13 and onednn+threads=1.
bool MatchesBackend(std::string_view pattern, std::string_view instance) {
  return MatchesPattern(pattern, instance) ||
         MatchesPattern(pattern,
                        instance.substr(0, instance.find_first_of("@+")));
}

bool MatchesAttribute(const Term& word, const TestCase& c) {
  return std::any_of(c.attributes.begin(), c.attributes.end(),
                     [&](const auto& attribute) {
                       return MatchesPattern(word.attribute, attribute.first) &&
                              (!word.has_value ||
                               MatchesPattern(word.pattern, attribute.second));
                     });
}

bool MatchesWord(const Term& word, const QuerySubject& subject) {
  const TestCase& c = subject.test_case;
  const std::string& pattern = word.pattern;
  switch (word.key) {
    case QueryKey::kId:
    case QueryKey::kText:
      return MatchesPattern(pattern, c.test_id);
    case QueryKey::kSuite:
      return MatchesPattern(pattern, c.suite);
    case QueryKey::kOp:
      return MatchesPattern(pattern, c.op);
    case QueryKey::kDomain:
      return MatchesPattern(pattern, c.domain.empty() ? "ai.onnx" : c.domain);
    case QueryKey::kOpset:
      return MatchesOpset(word, c.opset);
    case QueryKey::kDtype:
      return std::any_of(
          c.dtypes.begin(), c.dtypes.end(),
          [&](const std::string& t) { return MatchesPattern(pattern, t); });
    case QueryKey::kKind:
      return MatchesPattern(pattern, c.kind);
    case QueryKey::kBackend:
      return MatchesBackend(pattern, subject.backend);
    case QueryKey::kCorpus:
      return MatchesPattern(pattern, c.corpus);
    case QueryKey::kComparator:
      return MatchesPattern(pattern, ToString(c.limit.comparator));
    case QueryKey::kAttr:
      return MatchesAttribute(word, c);
    case QueryKey::kVacuous:
      return MatchesPattern(pattern, c.vacuous.empty() ? "no" : "yes");
    case QueryKey::kOutcome:
      return MatchesPattern(pattern, subject.outcome);
    case QueryKey::kReason:
      return MatchesPattern(pattern, subject.reason);
  }
  return false;
}

bool MatchesTerm(const Term& term, const QuerySubject& subject) {
  const auto matches = [&](const Term& child) {
    return MatchesTerm(child, subject);
  };
  switch (term.kind) {
    case Term::Kind::kWord:
      return MatchesWord(term, subject);
    case Term::Kind::kAnd:
      return std::all_of(term.children.begin(), term.children.end(), matches);
    case Term::Kind::kOr:
      return std::any_of(term.children.begin(), term.children.end(), matches);
    case Term::Kind::kNot:
      return !matches(term.children.front());
  }
  return false;
}

bool AsksForOutcome(const Term& term) {
  if (term.kind == Term::Kind::kWord) {
    return term.key == QueryKey::kOutcome || term.key == QueryKey::kReason;
  }
  return std::any_of(term.children.begin(), term.children.end(),
                     AsksForOutcome);
}

}  // namespace

bool Query::Matches(const QuerySubject& subject) const {
  return root_ == nullptr || MatchesTerm(*root_, subject);
}

bool Query::NeedsOutcome() const {
  return root_ != nullptr && AsksForOutcome(*root_);
}

}  // namespace assay::inline v1
