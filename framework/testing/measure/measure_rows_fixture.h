// SPDX-License-Identifier: Apache-2.0
//
// Parts for the tables of the comparator's tests: tensors in short, and rows
// of (mutant, got, want, verdict, limit). A mutant is a plausible defect
// of the comparator under which the row would get another outcome.

#pragma once

#include <string>
#include <vector>

#include "framework/testing/measure/measure.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gtest/gtest.h"

namespace assay::measure {

inline constexpr auto kPass = record::Outcome::kPass;
inline constexpr auto kFail = record::Outcome::kFail;

inline const cases::Limit kExactly = {.comparator = record::Comparator::kExact};
inline const cases::Limit kOnnx = {.rtol = 1e-3, .atol = 1e-7};
inline const cases::Limit kRandom = {.comparator =
                                         record::Comparator::kDistribution};

inline cases::Limit Within(double rtol, double atol) {
  return {.rtol = rtol, .atol = atol};
}

/// One output, and the outcome and reason that it must get.
struct OutputRow {
  std::string mutant;
  Value got, want;
  std::string verdict;
  cases::Limit limit = kOnnx;
};

/// Several outputs or none.
struct OutputsRow {
  std::string mutant;
  std::vector<Value> got, want;
  std::string verdict;
  cases::Limit limit = kOnnx;
};

inline void ExpectOutcomesOfSeveral(const std::vector<OutputsRow>& rows) {
  for (const OutputsRow& row : rows) {
    const auto metrics = Measure(row.got, row.want, {}, row.limit);
    const auto [outcome, reason, message] = Judge({}, metrics);
    const std::string_view because = ToString(reason);
    EXPECT_EQ(StrCat(ToString(outcome), because.empty() ? "" : " ", because),
              row.verdict)
        << row.mutant << ": " << message;
    EXPECT_EQ(message.empty(), outcome == record::Outcome::kPass) << row.mutant;
  }
}

inline void ExpectOutcomes(const std::vector<OutputRow>& rows) {
  for (const auto& [mutant, got, want, verdict, limit] : rows) {
    ExpectOutcomesOfSeveral({{mutant, {got}, {want}, verdict, limit}});
  }
}

}  // namespace assay::measure
