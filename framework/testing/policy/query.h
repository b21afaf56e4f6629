// SPDX-License-Identifier: Apache-2.0
//
// Query: the language in which cases are selected, expected and claimed.
//
//   ASSAY_ASSIGN_OR_RETURN(Query q, Query::Parse("op:Conv* opset>=11"));
//   if (q.Matches(subject)) ...
//
// Grammar, after wpt.fyi's search:
//     query  = term { "or" term } ; term = factor { ["and"] factor }
//     factor = "not" factor | "(" query ")" | word
//     word   = key ":" value | key compare integer | text
//     compare = ">=" | "<=" | ">" | "<" | "="
// Keys: id, suite, op, domain, opset, dtype, kind, backend, corpus, comparator,
// attr (as attr:name=value or attr:name), vacuous (yes, no), outcome, reason,
// rank, extent. A value may hold the wildcards * and ? and matches as a whole,
// letter case included; one with spaces or parentheses is quoted, with \" and
// \\ for a quote and a backslash. A text alone matches any part of the test_id.
// dtype: asks for any of the case's types, backend: for an instance or its
// name. A value that can never match, where the values are known, is an error.
// An empty query matches everything.
//
// opset:, rank: and extent: take a number. extent: asks for any extent of the
// case's inputs that is known: `not extent=0` leaves out cases with an input of
// no elements. The rank of a tensor is the number of its axes, 0 for a scalar.
// `rank<=2` matches a case when each tensor that a node of it reads or writes
// has such a rank: inputs, outputs, weights and all between. A case of whose
// tensors one has a rank that the model does not tell, or that has a sequence,
// map or optional, matches no rank. In a claim each rank is asked about alone,
// as each element type is (policy.h).

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"

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
  kExtent,
  kText,  // a word without a key
};

/// In the order of QueryKey, kText apart.
inline constexpr std::array<std::string_view, 16> kQueryKeys = {
    "id",      "suite",   "op",     "domain",     "opset", "dtype",
    "kind",    "backend", "corpus", "comparator", "attr",  "vacuous",
    "outcome", "reason",  "rank",   "extent"};

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

/// The parsed form of a Query: what the parser builds and Matches walks. `and`
/// and `or` hold any number of children, so that only parentheses and `not`
/// make a tree deep, and those the parser bounds.
struct QueryTerm {
  enum class Kind : uint8_t { kAnd, kOr, kNot, kWord };

  Kind kind = Kind::kWord;
  std::vector<QueryTerm> children;  // of and, or, not

  // The parts of a word.
  QueryKey key = QueryKey::kText;
  /// A number against the word's; null: its text against `pattern`.
  bool (*compares)(int64_t number, int64_t of_word) = nullptr;
  Pattern pattern;
  Pattern attribute;       // of attr: the name
  bool has_value = false;  // of attr: whether `pattern` is of the value
  int64_t number = 0;      // that others are compared with
};

/// The subject of a query.
struct QuerySubject {
  const cases::TestCase& test_case;
  std::string_view backend;  // instance; its name alone matches too
  std::string_view outcome;  // empty where there is none yet
  std::string_view reason;
};

class Query {
 public:
  /// Matches everything.
  Query();

  /// Invalid argument with the position, what was found and what was wanted;
  /// an unknown key lists the keys there are.
  static Result<Query> Parse(std::string_view text);

  bool Matches(const QuerySubject& subject) const;

  /// True when it asks for what only a finished run knows: outcome, reason.
  /// Expectations and plans refuse such a query.
  bool NeedsOutcome() const;
  /// The key by which the query asks about the case itself, not about what the
  /// case tests, as "suite:" or "a text"; empty: none. Claims refuse such a
  /// query.
  std::string AsksOfCase() const;
  /// True when it asks for attributes, which the tables of a run do not have.
  bool NeedsAttributes() const;
  /// True when it asks for ranks, which are read from the models of cases.
  bool NeedsRanks() const;
  /// True when it asks for a backend.
  bool NeedsBackend() const;

  /// The operators that it names, those that it excludes and patterns apart.
  std::vector<std::string> OperatorsNamed() const;

  /// "; did you mean Sigmoid?" for the first operator named that ONNX does not
  /// have but nearly so; else empty.
  std::string DidYouMean() const;

  /// The test_ids of which whatever matches has one; none where others may
  /// match.
  std::vector<std::string> OnlyIds() const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const QueryTerm> root_;
};

}  // namespace assay::policy
