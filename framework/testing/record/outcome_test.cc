// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/outcome.h"

#include "gtest/gtest.h"

namespace assay::record {
namespace {

TEST(OutcomeTest, EveryOutcomeHasItsNameAndClass) {
  using enum Outcome;
  const struct {
    Outcome outcome;
    std::string_view name;
    bool judged, unexpected, failure;
  } rows[] = {
      {kPass, "pass", true, false, false},
      {kWaived, "waived", true, false, false},
      {kFail, "fail", true, true, true},
      {kSuspect, "suspect", true, true, true},
      {kUnsupported, "unsupported", false, false, false},
      {kUnavailable, "unavailable", false, false, false},
      {kXfail, "xfail", true, false, false},
      {kXpass, "xpass", true, true, false},
      {kFlaky, "flaky", true, true, false},
      {kError, "error", true, true, true},
      {kCrash, "crash", true, true, true},
      {kTimeout, "timeout", true, true, true},
      {kMissing, "missing", false, true, false},
  };
  EXPECT_EQ(std::size(rows), static_cast<size_t>(kOutcomeCount));
  for (const auto& row : rows) {
    EXPECT_EQ(ToString(row.outcome), row.name);
    EXPECT_EQ(ParseOutcome(row.name), row.outcome) << row.name;
    EXPECT_EQ(IsJudged(row.outcome), row.judged) << row.name;
    EXPECT_EQ(IsUnexpected(row.outcome), row.unexpected) << row.name;
    EXPECT_EQ(IsFailure(row.outcome), row.failure) << row.name;
  }
}

TEST(OutcomeTest, OtherWordsAreNoOutcomes) {
  for (const std::string_view text : {"", "passed", "Pass", "pass ", "skip"}) {
    EXPECT_EQ(ParseOutcome(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace assay::record
