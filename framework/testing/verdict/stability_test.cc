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
    const char* first = "fail";
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
      {{{"crash"}, {"unsupported"}},
       Kind::kDeterministic,
       "no pass in 3 attempts",
       "crash"},
      {{{"unsupported"}, {"unsupported"}},
       Kind::kCrashesBehind,
       "alone unsupported 2 of 2 times",
       "crash"},
      {{{"fail"}, {"fail"}, {"crash", "node/A/a"}},
       Kind::kCrashesBehind,
       "alone fail 2 of 2 times, crash after node/A/a",
       "crash"},
      {{{"fail"}, {"fail", "node/A/a"}},
       Kind::kCrashesBehind,
       "alone fail 1 of 1 times$",
       "crash"},
      {{{"pass"}, {"fail"}}, Kind::kFlaky, "passes 1 of 3 times", "crash"},
      {{{"fail"}, {"fail"}}, Kind::kDeterministic, "no pass", "timeout"},
  };
  for (const auto& row : rows) {
    std::vector<record::ResultRow> repeats;
    for (const Attempt& attempt : row.repeats) {
      repeats.emplace_back().outcome = *record::ParseOutcome(attempt.outcome);
      repeats.back().after = attempt.after;
    }
    const Stability found =
        StabilityOf(*record::ParseOutcome(row.first), repeats);
    EXPECT_EQ(found.kind, row.kind) << row.text;
    EXPECT_THAT(found.text + "$", testing::HasSubstr(row.text));
    EXPECT_EQ(found.alone != nullptr, row.kind == Kind::kCrashesBehind);
  }
}

}  // namespace
}  // namespace assay::verdict
