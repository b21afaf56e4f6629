// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "framework/cli/program_fixture.h"
#include "framework/supervise/supervisor.h"

namespace assay::supervise {
namespace {

using testing::HasSubstr;

// Kills: a run of few cases that repeats next to none; one of many that takes
// as long again.
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

}  // namespace
}  // namespace assay::supervise
