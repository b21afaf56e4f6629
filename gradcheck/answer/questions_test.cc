// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gradcheck {
namespace {

using ::testing::HasSubstr;

// Kills: an answer that was lost, as on a full disk, taken for one that the
// oracle declined to give.
TEST(ReadGradientAnswersTest, SaysWhyThereAreNone) {
  const struct {
    std::optional<record::Outcome> outcome;
    StatusCode code;
    const char* says;
  } rows[] = {
      {std::nullopt, StatusCode::kNotFound, "the oracle was not asked"},
      {record::Outcome::kUnsupported, StatusCode::kUnsupported,
       "the oracle declined: words of the oracle"},
      {record::Outcome::kError, StatusCode::kDataLoss,
       "the oracle ended with error: words of the oracle"},
      {record::Outcome::kTimeout, StatusCode::kDataLoss,
       "the oracle ended with timeout: words of the oracle"},
  };
  for (const auto& row : rows) {
    GradientCase planned;
    planned.row.oracle_outcome = row.outcome;
    planned.row.oracle_message = "words of the oracle";
    const Status status = ReadGradientAnswers(planned).status();
    EXPECT_EQ(status.code(), row.code) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(row.says));
  }
}

}  // namespace
}  // namespace assay::gradcheck
