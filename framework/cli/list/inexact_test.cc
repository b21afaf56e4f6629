// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/list/results.h"
#include "framework/cli/program_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::list {
namespace {

using testing::HasSubstr;
using testing::Not;

record::AccuracyRow Row(const std::string& test_id,
                        const std::string& reference, double ulp) {
  record::AccuracyRow row;
  row.test_id = test_id;
  row.backend = "b";
  row.output_name = "y";
  row.dtype = "float32";
  row.shape = "[3]";
  row.reference = reference;
  row.max_ulp = ulp;
  row.oracle_bound = 0.25;
  row.worst_index = 1;
  row.worst_want = "0.30000001";
  row.worst_got = "0.3";
  return row;
}

std::vector<std::string> Ids(const std::vector<Inexact>& found) {
  std::vector<std::string> ids;
  for (const Inexact& item : found) ids.push_back(item.expected.test_id);
  return ids;
}

// The first field names the defect under which the row would be another.
TEST(FindInexact, ListsWhatIsWorseThanRoundingAndThanABackend) {
  const struct {
    const char* mutant;
    double expected, backend;
    std::optional<double> units;
    int64_t nan_mismatch;
    bool listed;
  } rows[] = {
      {"nothing is listed", 3490, 0.5, {}, 0, true},
      {"what is rounded correctly is listed", 0.5, 0.4, {}, 0, false},
      {"the bound is left out", 1.2, 0.5, {}, 0, false},
      {"the bound counts twice", 1.3, 0.5, {}, 0, true},
      {"the backend is left out", 8, 9, {}, 0, false},
      {"equally wrong is worse", 8, 8, {}, 0, false},
      {"units are left out", 8, 0.5, 0.9, 0, false},
      {"units explain all", 8, 0.5, 1.1, 0, true},
      {"NaN is no distance", 0, 0.5, {}, 1, true},
  };
  for (const auto& row : rows) {
    auto expected = Row("a", "expected_oracle", row.expected);
    expected.max_unit_err = row.units;
    expected.nan_mismatch = row.nan_mismatch;
    const auto found =
        FindInexact({expected, Row("a", "oracle", row.backend)}, {});
    EXPECT_EQ(found.size(), row.listed ? 1U : 0U) << row.mutant;
  }
}

TEST(FindInexact, ListsWhatLeavesLessThanHalfOfTheTolerance) {
  const struct {
    const char* mutant;
    const char* dtype;
    std::optional<double> headroom;
    bool listed;
    std::optional<double> bound = {};
    double distance = 0.4;  // ULP
  } rows[] = {
      {"headroom is not looked at", "float16", 0.49, true},
      {"all of it must be taken", "bfloat16", 0.1, true},
      {"what is out of limit is left out", "float64", -1.0, true},
      {"half is too little", "float16", 0.5, false},
      {"no limit is a limit of 0", "float32", {}, false},
      {"coarse floats are listed", "float8e5m2", 0.1, false},
      {"what the oracle does not know counts", "float32", 0.1, false, 0.4},
      {"half of it unknown counts whole", "float32", 0.1, false, 0.2},
      {"any bound excuses", "float32", 0.1, true, 0.1},
      {"rounding is accused", "float32", -kInf, false, 0, 0.5},
      {"all is rounding", "float32", -kInf, true, 0, 0.6},
      {"that rounding is exact", "float32", -kInf, false, 0.2, 0.6},
  };
  for (const auto& row : rows) {
    auto expected = Row("a", "expected_oracle", row.distance);
    expected.dtype = row.dtype;
    expected.headroom = row.headroom;
    expected.oracle_bound = row.bound;
    const auto found = FindInexact({expected, Row("a", "oracle", 0.5)}, {});
    EXPECT_EQ(found.size(), row.listed ? 1U : 0U) << row.mutant;
  }
}

TEST(FindInexact, SortsTheWorstFirstAndLeavesOutWhatIsDerived) {
  std::vector<record::AccuracyRow> rows;
  for (const auto& [id, ulp] :
       {std::pair("a", 10.0), std::pair("b", 1000.0),
        std::pair("b_expanded", 1000.0), std::pair("c", 100.0)}) {
    rows.push_back(Row(id, "oracle", 0.5));
    rows.push_back(Row(id, "expected_oracle", ulp));
    rows.push_back(Row(id, "expected", ulp));
  }
  rows.push_back(Row("d", "expected_oracle", 5000));  // on no backend
  record::PlanRow derived;
  derived.test_id = "b_expanded";
  derived.kind = "expanded";
  EXPECT_EQ(Ids(FindInexact(rows, {derived})),
            (std::vector<std::string>{"b", "c", "a"}));
}

TEST(FindInexact, TakesTheBestBackendOfEachDataSet) {
  std::vector<record::AccuracyRow> rows;
  for (const auto& [backend, first, second] :
       {std::tuple("p", 0.5, 40.0), std::tuple("q", 30.0, 3.0)}) {
    for (const double ulp : {first, second}) {
      rows.push_back(Row("a", "oracle", ulp));
      rows.back().backend = backend;
      rows.push_back(Row("a", "expected_oracle", 20));
      rows.back().backend = backend;
    }
  }
  const auto found = FindInexact(rows, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].backend.backend, "p");
  EXPECT_EQ(found[0].backend.max_ulp, 0.5);
  EXPECT_EQ(found[1].backend.backend, "q");
  EXPECT_EQ(found[1].backend.max_ulp, 3);
  EXPECT_EQ(found[1].data_set, 1);
}

TEST(InexactText, TellsTheShareOfTheTolerance) {
  auto expected = Row("a", "expected_oracle", 1.4);
  expected.headroom = 0.125;
  EXPECT_THAT(InexactText(FindInexact({expected, Row("a", "oracle", 0.5)}, {})),
              HasSubstr("expected 1.4 ULP, 0.719 of the tolerance, b 0.5 ULP"));
}

// Kills: a distance that the oracle's own bound contains, told as a finding.
TEST(InexactText, ADistanceInsideAWideBoundIsNone) {
  auto expected = Row("a", "expected_oracle", 5.3e7);
  expected.oracle_bound = 1.3e21;
  expected.headroom = -0.33;
  const std::string text = InexactText(
      FindInexact({expected, Row("a", "oracle", 0.5),
                   Row("b", "expected_oracle", 40), Row("b", "oracle", 1)},
                  {}));
  EXPECT_THAT(text, HasSubstr("b y"));
  EXPECT_THAT(text, Not(HasSubstr("a y")));
}

TEST(InexactText, FitsATerminal) {
  const std::string long_id = "node/X/test_" + std::string(90, 'x');
  auto infinite = Row("b", "expected_oracle", 7);
  infinite.inf_mismatch = 2;
  const std::string text = InexactText(FindInexact(
      {Row(long_id, "expected_oracle", 3489.6), Row(long_id, "oracle", 0.47),
       infinite, Row("b", "oracle", 0.5)},
      {}));
  EXPECT_LE(cli::Widest(text), 80U) << text;
  EXPECT_THAT(text,
              HasSubstr("b y\n  float32[3]: expected 2 elements of NaN or "
                        "infinity on one side, b 0.5 ULP\n"));
  EXPECT_THAT(text, HasSubstr("expected 3.49e+03 ULP, b 0.47 ULP\n"
                              "  [1] exact 0.30000001, expected 0.3\n"));
}

using InexactTest = cli::ProgramTest;

TEST_F(InexactTest, TheListNeedsARunWithAnOracle) {
  RunOf("reference --filter id:node/Abs/test_abs");
  ExpectRefused("list inexact ",
                {{"", "wanted --run"},
                 {"--run nowhere", "nowhere is no run"},
                 {"--run run", "wanted one made with --oracle"}});
}

}  // namespace
}  // namespace assay::list
