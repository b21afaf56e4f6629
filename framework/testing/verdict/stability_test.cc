// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/stability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::verdict {
namespace {

using Kind = Stability::Kind;

// Kills: a pass among repeats that makes a fail a pass; a case called flaky
// that another one spoils; a spoiler taken for one where alone it failed too.
TEST(StabilityTest, IsReadOffTheAttempts) {
  struct Attempt {
    const char* outcome;
    const char* after = "";
  };
  const struct {
    std::vector<Attempt> repeats;
    Kind kind;
    const char* text;
  } rows[] = {
      {{}, Kind::kUnknown, ""},
      {{{"fail"}, {"fail"}}, Kind::kDeterministic, "no pass in 3 attempts"},
      {{{"crash"}, {"error"}}, Kind::kDeterministic, "no pass in 3 attempts"},
      {{{"pass"}, {"fail"}}, Kind::kFlaky, "passes 1 of 3 times"},
      {{{"pass"}, {"pass"}}, Kind::kFlaky, "passes 2 of 3 times"},
      {{{"pass"}, {"crash", "node/A/a"}},
       Kind::kOrderDependent,
       "passes alone 1 of 1 times, crash after node/A/a"},
      {{{"pass"}, {"pass", "node/A/a"}}, Kind::kFlaky, "passes 2 of 3 times"},
      {{{"pass"}, {"fail"}, {"fail", "node/A/a"}},
       Kind::kFlaky,
       "passes 1 of 4 times"},
  };
  for (const auto& row : rows) {
    std::vector<record::ResultRow> repeats;
    for (const Attempt& attempt : row.repeats) {
      repeats.emplace_back().outcome = *record::ParseOutcome(attempt.outcome);
      repeats.back().after = attempt.after;
    }
    const Stability found = StabilityOf(repeats);
    EXPECT_EQ(found.kind, row.kind) << row.text;
    EXPECT_THAT(found.text, testing::HasSubstr(row.text));
  }
}

}  // namespace
}  // namespace assay::verdict
