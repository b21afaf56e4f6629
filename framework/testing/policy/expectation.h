// SPDX-License-Identifier: Apache-2.0
//
// A line of expectations.txt and one of claims.txt, parsed, and the condition
// that stands behind a line of expectations.txt or passing.txt.
//
//   ASSAY_ASSIGN_OR_RETURN(const Expectation line, ParseExpectation(text));
//   if (line.when.Holds(facts) && line.where.Matches(subject)) ...

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/outcome.h"

namespace assay::policy {

/// The facts of the place where a backend runs.
struct Facts {
  std::vector<std::string> cpu;  // features, as Linux names them
  std::vector<std::string> isa;  // instruction sets, as the library names them
};

/// The condition of a line, as `when cpu:avx512_fp16`, or as `when isa:avx2 and
/// not isa:avx512_core`. `cpu:` is a feature of the processor, `isa:` a set of
/// instructions that the backend's library says it may take code of
/// (Probe::isa). A set is in force beside those that it includes, so `isa:avx2`
/// holds with AVX-512 too, and `not isa:avx512_core` with each lesser one.
/// Nothing holds of facts that nobody knows, neither `isa:avx2` nor `not
/// isa:avx2`.
class When {
 public:
  enum class Key : uint8_t { kCpu, kIsa };
  static constexpr std::array<std::string_view, 2> kKeys = {"cpu:", "isa:"};

  /// True of every place that has all terms; without a term of all places.
  bool Holds(const Facts& facts) const;

  bool AsksForIsa() const;
  bool empty() const { return terms_.empty(); }

  /// As the line says it: "when isa:avx2 and not cpu:sse4a"; empty without one.
  std::string text() const;

  void Add(bool negated, Key key, std::string_view value) {
    terms_.push_back({negated, key, std::string(value)});
  }

 private:
  struct Term {
    bool negated;
    Key key;
    std::string value;
  };
  std::vector<Term> terms_;
};

/// `expect OUTCOME where QUERY because "..." [until DATE] [when CONDITION]`,
/// or `tolerate rtol=R atol=A where ...`. `expect fail at some seeds where ...`
/// is of cases whose inputs the seed draws: where one passes, the line is right
/// too. No seed makes such a case conformant.
struct Expectation {
  std::optional<record::Outcome> outcome;  // of an expect line
  bool at_some_seeds = false;              // the case passes at others
  std::optional<cases::Limit> tolerance;   // of a tolerate line
  Query where;
  std::string because;
  std::string until;  // ISO date; empty: for ever
  When when;
  std::string source;  // "expectations.txt:12"
};

/// `claim forward where QUERY`, `claim gradient where QUERY`,
/// `claim accumulator TYPE where QUERY`, `claim deterministic run-to-run`.
struct Claim {
  using Kind = cases::ClaimKind;
  Kind kind;
  DType accumulator =
      DType::kUndefined;  // that the gradients' sums are kept in
  Query where;
  std::string text;    // the sentence
  std::string source;  // "claims.txt:3"
};

}  // namespace assay::policy
