// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/repeat.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "framework/cli/program_fixture.h"
#include "framework/testing/file/file.h"
#include "framework/testing/record/tables.h"

namespace assay::supervise {
namespace {

using testing::HasSubstr;

// Kills: a run of few cases that repeats next to none; one of many that takes as
// long again.
TEST(RepeatTest, ATenthOfTheCasesIsRepeatedAnd32AtLeast) {
  const struct {
    int64_t cases, most;
  } rows[] = {{0, 32}, {32, 32}, {320, 32}, {329, 32}, {330, 33}, {5334, 533}};
  for (const auto& row : rows) {
    EXPECT_EQ(MostRepeated(row.cases), row.most) << row.cases;
  }
}

using RepeatProgramTest = cli::ProgramTest;

// Kills: a crash that stays with a case which alone fails or is declined; one
// that nobody is charged with, so that the run is green; a case of many that is
// not repeated.
TEST_F(RepeatProgramTest, ACrashIsChargedToWhoCrashesAlone) {
  const struct {
    const char* settings;
    const char* outcome;  // of the case behind the one that does it
    const char* says;
  } rows[] = {
      {"+deadly=Abs", "fail",
       "crash: the worker ended at node/Acos/test_acos, which crashes behind "
       "other cases only: alone fail 3 of 3 times, crash after "
       "node/Abs/test_abs"},
      {"+deadly=Abs+decline=Acos", "unsupported",
       "alone unsupported 3 of 3 times, crash after node/Abs/test_abs"},
      {"+crash=Acos", "crash", "1 crash: the worker ended: signal SIGABRT"},
  };
  for (const auto& row : rows) {
    std::filesystem::remove_all(folder_ / "run");
    const cli::Ran ran = Assay(StrCat(
        "run --backend ", ASSAY_MISBEHAVING, row.settings,
        " --filter 'id:node/Abs/test_abs or id:node/Acos/test_acos' --jobs 1 "
        "--no-report --out run"));
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_EQ(Outcomes("run")["node/Acos/test_acos"], row.outcome)
        << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.settings;
  }
}

using BrokenJournalTest = cli::ProgramTest;

// Kills: a run that is lost by it; verdicts of others that are; a run that goes
// on for good.
TEST_F(BrokenJournalTest, CostsTheCaseThatWasOpenUnlessItIsBrokenOnce) {
  const auto run = [&](const std::string& settings) {
    std::filesystem::remove_all(folder_ / "run");
    return Assay(
        StrCat("run --host in-process --backend ", ASSAY_MISBEHAVING, settings,
               " --backend ", ASSAY_MISBEHAVING,
               " --filter 'id:node/Abs/test_abs or id:node/Acos/test_acos or "
               "id:node/Add/test_add' --jobs 1 --no-report --out run"));
  };
  // Of the backend that breaks its journal, then of the other.
  const auto outcomes = [&] {
    std::vector<std::string> all;
    const auto csv = file::ReadFile(folder_ / "run/results.csv");
    if (!csv.ok()) return all;
    const auto rows = record::ParseCsv<record::ResultRow>(*csv);
    if (!rows.ok()) return all;
    for (const record::ResultRow& row : *rows) {
      all.push_back(StrCat(row.test_id, " ", ToString(row.outcome)));
    }
    return all;
  };
  EXPECT_EQ(run("+none=1").exit_code, 1);
  std::vector<std::string> wanted = outcomes();
  ASSERT_EQ(wanted.size(), 6U);
  EXPECT_EQ(wanted[1], "node/Acos/test_acos fail");

  const cli::Ran once = run("+break_once=Acos");
  EXPECT_EQ(once.exit_code, 1);
  EXPECT_EQ(outcomes(), wanted) << once.output;
  EXPECT_THAT(once.output, HasSubstr("the journal of a worker was broken"));

  std::filesystem::remove(folder_ / "broken");
  const cli::Ran again = run("+break=Acos");
  EXPECT_EQ(again.exit_code, 1);
  wanted[1] = "node/Acos/test_acos error";
  EXPECT_EQ(outcomes(), wanted) << again.output;
  EXPECT_THAT(again.output, HasSubstr("was broken twice at this case"));
}

}  // namespace
}  // namespace assay::supervise
