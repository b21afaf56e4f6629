// SPDX-License-Identifier: Apache-2.0
//
// Runs with an oracle. The one asked here echoes its input, so that its exact
// answers are known: right for Identity, wrong for the sign of half of Abs.

#include "framework/supervise/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/program_fixture.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class OracleTest : public cli::ProgramTest {
 protected:
  static constexpr const char* kCases =
      "'id:node/Abs/test_abs or id:node/Identity/test_identity or "
      "id:node/Neg/test_neg'";

  /// A run of the reference, with the echo as oracle.
  cli::Ran Run(const std::string& name, const std::string& oracle,
               const std::string& more = "") const {
    return Assay(StrCat("run --backend reference --corpus onnx --filter ",
                        kCases, " --no-report --out ", name,
                        " --oracle=", ASSAY_MISBEHAVING, oracle,
                        " --oracle-cache cache ", more));
  }

  template <class Row>
  std::vector<Row> Table(const std::string& file) const {
    const auto csv = file::ReadFile(folder_ / file);
    auto rows = csv.ok() ? record::ParseCsv<Row>(*csv) : csv.status();
    EXPECT_TRUE(rows.ok()) << rows.status().ToString();
    return rows.ok() ? *rows : std::vector<Row>();
  }

  record::AccuracyRow Distance(const std::string& run,
                               const std::string& test_id,
                               const std::string& reference) const {
    for (const auto& row : Table<record::AccuracyRow>(run + "/accuracy.csv")) {
      if (row.test_id == test_id && row.reference == reference) return row;
    }
    return {};
  }

  record::PlanRow Planned(const std::string& run,
                          const std::string& test_id) const {
    for (const auto& row : Table<record::PlanRow>(run + "/plan.csv")) {
      if (row.test_id == test_id) return row;
    }
    return {};
  }

  /// The folder of a case's answers in a run.
  fs::path FolderOf(const std::string& run, const std::string& test_id) const {
    return Planned(run, test_id).oracle;
  }
};

// Kills: a distance of one side taken for the other's; verdicts by an oracle.
TEST_F(OracleTest, AddsTwoDistancesAndChangesNoVerdict) {
  const cli::Ran ran = Run("run", "");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("exact answers to 3 of 3 cases; see"));
  const record::AccuracyRow same =
      Distance("run", "node/Identity/test_identity", "oracle");
  EXPECT_EQ(same.max_ulp, 0);
  EXPECT_EQ(same.oracle_bound, 0);
  EXPECT_EQ(same.share_correctly_rounded, 1);
  EXPECT_TRUE(same.bitwise_equal);
  for (const char* reference : {"oracle", "expected_oracle"}) {
    const record::AccuracyRow row =
        Distance("run", "node/Abs/test_abs", reference);
    EXPECT_GT(row.max_ulp.value_or(0), 1e6) << reference;
    EXPECT_TRUE(row.worst_want.starts_with("-")) << row.worst_want;
    EXPECT_FALSE(row.worst_got.starts_with("-")) << row.worst_got;
    EXPECT_FALSE(row.bitwise_equal) << reference;
  }
  EXPECT_EQ(Distance("run", "node/Abs/test_abs", "expected").max_ulp, 0);
  Assay(StrCat("run --backend reference --corpus onnx --filter ", kCases,
               " --no-report --out plain"));
  EXPECT_EQ(Outcomes("run"), Outcomes("plain"));
  EXPECT_EQ(Distance("plain", "node/Abs/test_abs", "oracle").test_id, "");
  EXPECT_FALSE(fs::exists(folder_ / "plain/oracle.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "plain/records/oracle"));
}

TEST_F(OracleTest, ExplainShowsTheThreeDistances) {
  Run("run", "");
  const cli::Ran ran = Assay("explain node/Abs/test_abs --run run");
  for (const char* part :
       {"max error 0, 0 ULP", "to the oracle: max ",
        "expected to the oracle:", "53.33 % correctly rounded"}) {
    EXPECT_THAT(ran.output, HasSubstr(part));
  }
}

// Kills: answers that are asked for again; a key without the oracle's settings.
TEST_F(OracleTest, KeepsAnswersForTheNextRunOfTheSameOracle) {
  Run("first", "");
  EXPECT_THAT(Run("second", "").output, HasSubstr("3 cases, 3 of them kept\n"));
  EXPECT_EQ(Table<record::ResultRow>("second/oracle.csv").size(), 0U);
  EXPECT_THAT(Run("other", "+decline=Add").output, Not(HasSubstr("kept")));
}

TEST_F(OracleTest, ComputesAgainWhatIsTornOrChanged) {
  Run("first", "");
  const char* const id = "node/Abs/test_abs";
  const fs::path file = measure::AnswersFile(FolderOf("first", id), 0);
  const std::string whole = *file::ReadFile(file);
  std::string changed = whole;
  changed[whole.size() / 2] ^= 1;
  for (const std::string& bytes :
       {changed, whole.substr(0, whole.size() / 2), std::string()}) {
    std::ofstream(file, std::ios::binary) << bytes;
    fs::remove_all(folder_ / "again");
    EXPECT_THAT(Run("again", "").output, HasSubstr("3 cases, 2 of them kept"));
    EXPECT_EQ(*file::ReadFile(file), whole);
    EXPECT_NE(Distance("again", id, "oracle").test_id, "");
  }
}

// Kills: a plan that forgets its oracle; a shard that asks for all cases, or
// for none; a merge that drops the distances.
TEST_F(OracleTest, ShardsAskTheOracleOfTheirPlan) {
  Run("run", "");
  fs::remove_all(folder_ / "cache");
  const cli::Ran planned =
      Assay(StrCat("plan --backend reference --corpus onnx --filter ", kCases,
                   " --out plan --oracle=", ASSAY_MISBEHAVING));
  EXPECT_EQ(planned.exit_code, 0) << planned.output;
  for (const char* shard : {"2/3", "3/3"}) {
    const cli::Ran ran =
        Shell(StrCat("env XDG_CACHE_HOME=$PWD/xdg ", cli::Program(),
                     " run --plan plan --parts plan/parts --shard ", shard));
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, Not(HasSubstr("of 3 cases")));
    EXPECT_THAT(ran.output, HasSubstr("oracle"));
  }
  EXPECT_EQ(Assay("merge plan --out merged --no-report").exit_code, 0);
  EXPECT_EQ(Table<record::ResultRow>("merged/oracle.csv").size(), 3U);
  const auto whole = Table<record::AccuracyRow>("run/accuracy.csv");
  auto merged = Table<record::AccuracyRow>("merged/accuracy.csv");
  ASSERT_EQ(merged.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    merged[i].run_id = whole[i].run_id;
    std::string one, other;
    record::AppendCsvRow(one, whole[i]);
    record::AppendCsvRow(other, merged[i]);
    EXPECT_EQ(one, other);
  }
}

// Whatever becomes of the oracle costs the distances of a case, not the run.
TEST_F(OracleTest, GoesOnWithoutWhatTheOracleDoesNotAnswer) {
  const struct {
    const char* oracle;
    const char* more;
    const char* says;
    const char* outcome;   // of Neg
    const char* identity;  // reference of its row, if any
  } rows[] = {
      {"+decline=Neg", "", "2 of 3 cases; 1 declined, 0 lost", "unsupported",
       "oracle"},
      {"+decline=all", "", "0 of 3 cases; 3 declined, 0 lost", "unsupported",
       ""},
      {"+crash=Neg", "", "2 of 3 cases; 0 declined, 1 lost", "crash", "oracle"},
      {"+exit=Neg", "", "2 of 3 cases; 0 declined, 1 lost", "crash", "oracle"},
      {"+hang=Neg", "--timeout 1", "2 of 3 cases; 0 declined, 1 lost",
       "timeout", "oracle"},
  };
  for (const auto& row : rows) {
    fs::remove_all(folder_ / "cache");
    fs::remove_all(folder_ / "run");
    const cli::Ran ran = Run("run", row.oracle, row.more);
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.oracle;
    for (const auto& asked : Table<record::ResultRow>("run/oracle.csv")) {
      const bool declined = asked.op == "Neg" || row.identity[0] == 0;
      EXPECT_EQ(ToString(asked.outcome), declined ? row.outcome : "pass");
      // A case's judge is told why it has no answers.
      const record::PlanRow planned = Planned("run", asked.test_id);
      EXPECT_EQ(planned.oracle.empty(), declined);
      EXPECT_EQ(planned.oracle_outcome,
                declined ? std::optional(asked.outcome) : std::nullopt);
      EXPECT_EQ(planned.oracle_message, declined ? asked.message : "");
    }
    EXPECT_EQ(Distance("run", "node/Neg/test_neg", "oracle").test_id, "");
    EXPECT_EQ(
        Distance("run", "node/Identity/test_identity", "oracle").reference,
        row.identity);
    EXPECT_EQ(Outcomes("run").size(), 3U);
  }
}

TEST_F(OracleTest, SaysAtOnceWhatItCannotBeginWith) {
  std::ofstream(folder_ / "file") << "x";
  const struct {
    const char* arguments;
    int exit_code;
    const char* says;
  } rows[] = {
      {"--oracle=nowhere", 2, "no backend nowhere"},
      {"--oracle --oracle-cache file/below", 99, "file/below"},
      {"--oracle-cache cache", 2, "--oracle"},
  };
  for (const auto& row : rows) {
    const cli::Ran ran = Assay(StrCat("run --backend reference --out run ",
                                      "--filter op:Abs ", row.arguments));
    EXPECT_EQ(ran.exit_code, row.exit_code) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says));
    EXPECT_FALSE(fs::exists(folder_ / "run")) << row.arguments;
  }
}

TEST_F(OracleTest, AnAnswerThatCannotBeWrittenIsLostAlone) {
  Run("first", "");
  const fs::path file =
      measure::AnswersFile(FolderOf("first", "node/Neg/test_neg"), 0);
  fs::remove(file);
  fs::create_directories(file / "x");
  const cli::Ran ran = Run("run", "");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("2 of 3 cases, 2 of them kept; 0 declined, "
                                    "1 lost"));
  const auto asked = Table<record::ResultRow>("run/oracle.csv");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].outcome, record::Outcome::kError);
  EXPECT_THAT(asked[0].message, HasSubstr("cannot write"));
}

TEST_F(OracleTest, ACacheIsTrimmedFromItsOldestEnd) {
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 4; ++i) {
    const fs::path folder = folder_ / "cache" / StrCat(i % 2) / StrCat(i);
    fs::create_directories(folder);
    std::ofstream(folder / "set_0.exact") << std::string(100, '.');
    fs::last_write_time(folder, now - std::chrono::hours(10 - i));
  }
  TrimOracleCache(folder_ / "cache", 250);
  EXPECT_FALSE(fs::exists(folder_ / "cache/0/0"));
  EXPECT_FALSE(fs::exists(folder_ / "cache/1/1"));
  EXPECT_TRUE(fs::exists(folder_ / "cache/0/2"));
  EXPECT_TRUE(fs::exists(folder_ / "cache/1/3"));
}

TEST_F(OracleTest, TheCacheIsWhereTheUserKeepsCaches) {
  for (const auto& [variables, where] :
       {std::pair("XDG_CACHE_HOME=$PWD/xdg", "xdg/assay/oracle"),
        std::pair("XDG_CACHE_HOME= HOME=$PWD", ".cache/assay/oracle")}) {
    Shell(StrCat("env ", variables, " ", cli::Program(),
                 " run --backend reference --filter id:node/Abs/test_abs "
                 "--corpus onnx --no-report --oracle=",
                 ASSAY_MISBEHAVING));
    EXPECT_TRUE(fs::exists(folder_ / where)) << where;
  }
}

}  // namespace
}  // namespace assay::supervise
