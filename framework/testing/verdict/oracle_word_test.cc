// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/oracle_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace assay::verdict {
namespace {

using testing::HasSubstr;

record::AccuracyRow Row(const char* reference, double ulp, double bound,
                        std::optional<double> share = 1,
                        const char* output = "y") {
  record::AccuracyRow row;
  row.reference = reference;
  row.output_name = output;
  row.max_ulp = ulp;
  row.oracle_bound = bound;
  row.share_correctly_rounded = share;
  return row;
}

// The first field names the defect under which the row would be another.
TEST(OracleWordTest, NamesTheSideThatIsFurtherFromTheExactValues) {
  const struct {
    const char* mutant;
    double expected, got, bound;
    std::optional<double> share;
    const char* says;
  } rows[] = {
      {"the sides are exchanged", 40, 0.5, 0.01, 1,
       "the expected data are the worse side: expected 40 ULP from the exact "
       "values, got 0.5 ULP, the oracle off by at most 0.01 ULP"},
      {"the corpus is always wrong", 0.5, 40, 0.01, 1,
       "the backend is the worse side"},
      {"the bound is left out", 5.3e7, 10, 1.3e21, std::nullopt,
       "the oracle is undecided: expected 5.3e+07 ULP"},
      {"what is not known has a bound", 3, 1,
       std::numeric_limits<double>::infinity(), std::nullopt,
       "the oracle is undecided, since a decision on the way is in doubt or a "
       "number beyond double: expected 3 ULP"},
      {"the bound counts once", 3, 1, 1.5, std::nullopt,
       "the oracle is undecided"},
      {"twice the bound decides nothing", 5, 1, 1.5, std::nullopt,
       "the expected data are the worse side"},
      {"a lead below 1 is none", 1, 0.5, 0.01, 1,
       "the expected data are the worse side"},
      {"equal distances are known within any bound", 3, 3, 10, std::nullopt,
       "the oracle is undecided"},
      {"equal distances have a worse side", 0.5, 0.5, 0, 1,
       "neither side is the worse"},
  };
  for (const auto& row : rows) {
    const std::vector<record::AccuracyRow> given = {
        Row("oracle", row.got, row.bound, row.share),
        Row("expected_oracle", row.expected, row.bound, row.share),
        Row("expected", 7, 0)};
    EXPECT_THAT(OracleWord(given), HasSubstr(row.says)) << row.mutant;
  }
}

// Kills: integers that differ from the exact ones and are said to be 0 ULP off.
TEST(OracleWordTest, IntegersThatDifferAreTheWorseSide) {
  record::AccuracyRow got;
  got.reference = "oracle";
  got.out_of_limit = 3;
  got.n_elem = 4;
  record::AccuracyRow expected = got;
  expected.reference = "expected_oracle";
  expected.out_of_limit = 0;
  EXPECT_EQ(OracleWord(std::vector{got, expected}),
            "by the oracle the backend is the worse side: expected 0 ULP from "
            "the exact values, got 3 of 4 elements other");
}

TEST(OracleWordTest, SpeaksOfTheOutputWhoseSidesDifferMost) {
  record::AccuracyRow infinite = Row("oracle", 1, 0, 1, "z");
  infinite.inf_mismatch = 1;
  const std::vector<record::AccuracyRow> rows = {
      Row("oracle", 1, 0),
      Row("oracle", 9, 0),
      Row("expected_oracle", 2, 0),
      Row("expected_oracle", 90, 0),
      infinite,
      Row("expected_oracle", 1, 0, 1, "z")};
  EXPECT_THAT(OracleWord({rows.data(), 4}), HasSubstr("expected 90 ULP"));
  EXPECT_THAT(OracleWord(rows),
              HasSubstr("the backend is the worse side: expected 1 ULP from "
                        "the exact values, got NaN or infinity on one side"));
}

TEST(OracleWordTest, SaysNothingWithoutBothSides) {
  EXPECT_EQ(OracleWord({}), "");
  const std::vector<record::AccuracyRow> rows = {Row("expected", 3, 0),
                                                 Row("oracle", 3, 0)};
  EXPECT_EQ(OracleWord(rows), "");
}

TEST(OracleWordTest, ADistanceWithinAWideBoundIsUndecided) {
  const struct {
    double ulp, bound;
    std::optional<double> share;
    bool undecided;
  } rows[] = {
      {5e7, 1e21, {}, true},
      {200, 100, {}, false},   // further off than the oracle may be
      {0.01, 0.1, 0.5, false}  // a narrow bound says that it is rounded well
  };
  for (const auto& row : rows) {
    EXPECT_EQ(IsUndecided(Row("oracle", row.ulp, row.bound, row.share)),
              row.undecided)
        << row.ulp;
  }
}

}  // namespace
}  // namespace assay::verdict
