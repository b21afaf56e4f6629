// SPDX-License-Identifier: Apache-2.0
//
// The one rule of red. All that is unexpected in a run is in one list; exit
// code, JUnit, summaries, page and the entries of CTest read it, and none of
// them has a rule of its own. An empty list is a run that went as expected.
//
//   const std::vector<Unexpected> unexpected = UnexpectedOf(plan, found);
//   const int exit_code = unexpected.empty() ? 0 : 1;

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/plan/plan.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::verdict {

/// Something that turns a run red: a result, or a line of a policy.
struct Unexpected {
  std::string backend;
  std::string test_id;  // empty: about the backend or its policy
  std::string outcome;
  std::string reason;
  /// The result's, or one of the words below where it has none.
  std::string reason_code = {};
  std::string repro = {};  // empty where no case repeats it
};

/// Reason codes of what is no result, or of a result that needs none.
inline constexpr std::string_view kExpectationCode = "expectation";
inline constexpr std::string_view kFloorCode = "floor";
inline constexpr std::string_view kPolicyCode = "policy";
inline constexpr std::string_view kAccountingCode = "accounting";

/// The findings of a run that the list is made from.
struct Found {
  const std::vector<size_t>& rows;           // of the plan
  const std::vector<record::Record>& final;  // verdicts on them, in their order
  const std::vector<Unexpected>& charged;    // to a backend by repeats
  const std::vector<record::ResultRow>& losses;  // ends outside of any case
  /// By instance, the instruction sets that its workers told of, and why it
  /// could not begin.
  const std::map<std::string, std::set<std::string>>& isa;
  const std::map<std::string, record::BackendRow>& backends;
  /// The plan was run as a whole: a part cannot tell of lines of a policy, nor
  /// of a backend that judged nothing.
  bool whole = false;
  bool allow_unavailable = false;  // a missing library or device is no failure
};

/// "fail at some seeds": what a line expects of the case, as it says it.
std::string ExpectedText(const record::PlanRow& planned);

/// Results first, in the order of the plan, then each backend as a whole.
std::vector<Unexpected> UnexpectedOf(const plan::Plan& plan,
                                     const Found& found);

}  // namespace assay::verdict
