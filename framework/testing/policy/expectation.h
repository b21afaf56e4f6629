// SPDX-License-Identifier: Apache-2.0
//
// A line of expectations.txt and one of claims.txt, parsed.
//
//   ASSAY_ASSIGN_OR_RETURN(const ExpectationLine line, ParseExpectation(text));
//   if (line.expectation.where.Matches(subject)) ...

#pragma once

#include <optional>
#include <string>

#include "framework/core/dtype.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/policy/query.h"
#include "framework/testing/record/outcome.h"

namespace assay::policy {

/// `expect OUTCOME where QUERY because "..." [until DATE] [when cpu:FEATURE]`,
/// or `tolerate rtol=R atol=A where ...`. `expect fail at some seeds where ...`
/// is of cases whose inputs the seed draws: where one passes, the line is right
/// too. No seed makes such a case conformant.
struct Expectation {
  std::optional<record::Outcome> outcome;  // of an expect line
  bool at_some_seeds = false;              // the case passes at others
  std::optional<cases::Limit> tolerance;   // of a tolerate line
  Query where;
  std::string because;
  std::string until;   // ISO date; empty: for ever
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
