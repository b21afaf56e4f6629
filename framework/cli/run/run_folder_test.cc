// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/run/junit.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

record::Record RecordOf(record::Outcome outcome) {
  record::Record record;
  record.result.test_id = "node/Abs/test_abs";
  record.result.backend = "acme";
  record.result.suite = "node";
  record.result.outcome = outcome;
  record.result.message = "because";
  return record;
}

// Kills: a summary before what it sums up; a finished run that is none any more
// because a later one was not written.
TEST(RunFolderTest, ASummaryIsReplacedOnlyWhereAllElseIsWritten) {
  for (const char* blocked : {"", "results.csv", "attempts.csv", "runs.csv",
                              "accuracy.csv", "backends.csv", "summary.md"}) {
    const file::ScratchFolder scratch;
    scratch.Write("summary.json", "of an earlier run");
    if (*blocked != 0) fs::create_directory(scratch.path() / blocked);
    const Status status = WriteRunFolder(scratch.path(), {}, {}, {}, {}, 0);
    EXPECT_EQ(status.ok(), *blocked == 0) << blocked << status.message();
    const std::string summary =
        *file::ReadFile(scratch.path() / "summary.json");
    EXPECT_EQ(summary == "of an earlier run", *blocked != 0) << blocked;
    EXPECT_FALSE(fs::exists(scratch.path() / "new")) << blocked;
    EXPECT_THAT(status.message(), HasSubstr(blocked));
  }
}

// Kills: an outcome that those who read JUnit take for a pass.
TEST(JUnitTest, EveryOutcomeHasItsElement) {
  const struct {
    record::Outcome outcome;
    const char* element;  // null: passed
  } rows[] = {
      {record::Outcome::kPass, nullptr},
      {record::Outcome::kWaived, nullptr},
      {record::Outcome::kFail, "failure"},
      {record::Outcome::kSuspect, "failure"},
      {record::Outcome::kUnsupported, "skipped"},
      {record::Outcome::kUnavailable, "skipped"},
      {record::Outcome::kXfail, "skipped"},
      {record::Outcome::kXpass, "failure"},
      {record::Outcome::kFlaky, "failure"},
      {record::Outcome::kError, "error"},
      {record::Outcome::kCrash, "error"},
      {record::Outcome::kTimeout, "error"},
      {record::Outcome::kMissing, "error"},
  };
  EXPECT_EQ(std::size(rows), static_cast<size_t>(record::kOutcomeCount));
  for (const auto& row : rows) {
    const std::string xml = JUnitXml(
        "node", "acme", {RecordOf(row.outcome), RecordOf(row.outcome)});
    const std::string said = StrCat(ToString(row.outcome), ": because");
    EXPECT_THAT(xml, HasSubstr("tests=\"2\"")) << said;
    for (const std::string element : {"failure", "error", "skipped"}) {
      const bool wanted = row.element != nullptr && element == row.element;
      const std::string open = StrCat("<", element, " message=\"", said, "\"");
      EXPECT_EQ(xml.find(open) != std::string::npos, wanted) << said;
      const std::string count =
          StrCat(element == "skipped" ? element : element + "s", "=\"",
                 wanted ? 2 : 0, "\"");
      EXPECT_THAT(xml, HasSubstr(count)) << said;
    }
  }
}

// Kills: a page of a build server that says what failed and not how to repeat
// it.
TEST(JUnitTest, AFailureSaysHowToRepeatIt) {
  record::Record failed = RecordOf(record::Outcome::kFail);
  failed.result.repro = "assay run --filter 'id:node/Abs/test_abs'";
  EXPECT_THAT(
      JUnitXml("node", "acme", {failed}),
      HasSubstr(">assay run --filter 'id:node/Abs/test_abs'</failure>"));
}

TEST(JUnitTest, OnlyTheCasesOfTheSuiteAndBackendAreThere) {
  record::Record other = RecordOf(record::Outcome::kFail);
  other.result.backend = "other";
  record::Record model = RecordOf(record::Outcome::kFail);
  model.result.suite = "model";
  const std::string xml = JUnitXml(
      "node", "acme", {other, RecordOf(record::Outcome::kPass), model});
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_THAT(xml, Not(HasSubstr("other")));
}

}  // namespace
}  // namespace assay::run
