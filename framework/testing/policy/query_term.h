// SPDX-License-Identifier: Apache-2.0
//
// The parsed form of a Query: what the parser builds and Matches walks. `and`
// and `or` hold any number of children, so that only parentheses and `not` make
// a tree deep, and those the parser bounds.
//
//   QueryTerm word;
//   word.key = QueryKey::kOp;
//   word.pattern = Pattern("Conv*");

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::policy {

enum class QueryKey : uint8_t {
  kId,
  kSuite,
  kOp,
  kDomain,
  kOpset,
  kDtype,
  kKind,
  kBackend,
  kCorpus,
  kComparator,
  kAttr,
  kVacuous,
  kOutcome,
  kReason,
  kRank,
  kText,  // a word without a key
};

/// In the order of QueryKey, kText apart.
inline constexpr std::array<std::string_view, 15> kQueryKeys = {
    "id",    "suite",   "op",      "domain", "opset",
    "dtype", "kind",    "backend", "corpus", "comparator",
    "attr",  "vacuous", "outcome", "reason", "rank"};

enum class Comparison : uint8_t {
  kMatch,
  kEqual,
  kLess,
  kGreater,
  kAtMost,
  kAtLeast
};

/// A text with * for any characters and ? for any one.
class Pattern {
 public:
  Pattern() = default;
  Pattern(std::string text)
      : text_(std::move(text)),
        exact_(text_.find_first_of("*?") == std::string::npos) {}

  /// True when all of `text` matches, in at most |pattern| * |text| steps.
  bool Matches(std::string_view text) const;

  const std::string& text() const { return text_; }
  /// True when it matches no text but its own.
  bool exact() const { return exact_; }

 private:
  std::string text_;
  bool exact_ = true;
};

struct QueryTerm {
  enum class Kind : uint8_t { kAnd, kOr, kNot, kWord };

  Kind kind = Kind::kWord;
  std::vector<QueryTerm> children;  // of and, or, not

  // The parts of a word.
  QueryKey key = QueryKey::kText;
  Comparison comparison = Comparison::kMatch;
  Pattern pattern;         // of kMatch
  Pattern attribute;       // of attr: the name
  bool has_value = false;  // of attr: whether `pattern` is of the value
  int64_t number = 0;      // of the other comparisons
};

}  // namespace assay::policy
