// SPDX-License-Identifier: Apache-2.0
//
// The files that a run leaves in its folder, and its lines for a person.

#include "framework/cli/run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/run/run_text.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

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
    EXPECT_THAT(status, Says(blocked));
  }
}

/// A sum where there is no record: runs of other tests have this suite, too.
std::vector<record::Record> SumOfNothing(
    std::span<const record::Record> finals) {
  if (!finals.empty()) return {};
  record::Record sum;
  sum.result.test_id = "of nothing";
  sum.Add(record::AccuracyRow{});
  return {sum};
}

// Kills: rows about several cases that are written nowhere.
TEST(RunFolderTest, HasTheSumsOfSuites) {
  suite::AddSuite({.name = "summing", .sums = &SumOfNothing});
  const file::ScratchFolder scratch;
  ASSERT_TRUE(WriteRunFolder(scratch.path(), {}, {}, {}, {}, 0).ok());
  const auto rows = Got(record::ParseCsv<record::AccuracyRow>(
      *file::ReadFile(scratch.path() / "accuracy.csv")));
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].test_id, "of nothing");
}

const select::Colours kPlain(false);

// Kills: a line for each of 5,000 cases that one fault failed; two faults in
// one group.
TEST(UnexpectedTextTest, GroupsByWhyTheMostFrequentFirst) {
  verdict::Verdicts verdicts;
  const auto add = [&](const char* id, const char* outcome,
                       std::string reason) {
    verdicts.unexpected.push_back(
        {"acme", id, outcome, std::move(reason), "", StrCat("assay run ", id)});
  };
  add("node/Abs/a", "crash", "SIGSEGV; see acme.1.log");
  for (const char* id : {"node/Add/a", "node/Add/b", "node/Add/c"}) {
    add(id, "fail",
        StrCat("output y: ", verdicts.unexpected.size(),
               " of 24 out of limit"));
  }
  add("node/Abs/b", "fail", "output z: 1 of 24 out of limit");
  EXPECT_EQ(UnexpectedText(verdicts, kPlain),
            "\nunexpected: 5\n"
            "  acme: 3 fail: output y: 1 of 24 out of limit; first node/Add/a\n"
            "    repeat: assay run node/Add/a\n"
            "  acme: 1 crash: SIGSEGV; see acme.1.log; first node/Abs/a\n"
            "    repeat: assay run node/Abs/a\n"
            "  acme: 1 fail: output z: 1 of 24 out of limit; first node/Abs/b\n"
            "    repeat: assay run node/Abs/b\n");
  verdicts.unexpected[1].reason = std::string(1 << 20, 'x');
  EXPECT_LT(UnexpectedText(verdicts, kPlain).size(), 2000U);
}

// Kills: a line for each of 5,000 cases that a module failed; a summary that no
// page takes; a reason that is markup, or more than a line.
TEST(UnexpectedTextTest, ASummaryHasEachReasonOnceAndIsSmall) {
  verdict::Verdicts verdicts;
  EXPECT_EQ(UnexpectedMarkdown(verdicts), "\nNothing unexpected.\n");
  for (int i = 0; i < 5000; ++i) {
    verdicts.unexpected.push_back(
        {"acme", StrCat("node/Add/", i), "error", "no <b>\n`symbol`|"});
  }
  const std::string one = UnexpectedMarkdown(verdicts);
  EXPECT_THAT(one, HasSubstr("## Unexpected: 5000\n\n"
                             "- acme: 5000 error: no \\<b\\> "
                             "\\`symbol\\`\\|\n  - node/Add/0\n"));
  EXPECT_THAT(one, HasSubstr("  - and 4995 more in summary.json\n"));
  EXPECT_LT(one.size(), 400U);
  for (int i = 0; i < 5000; ++i) {
    verdicts.unexpected[static_cast<size_t>(i)].reason =
        StrCat(std::string(static_cast<size_t>(i) + 1, 'x'), "|");
  }
  EXPECT_LT(UnexpectedMarkdown(verdicts).size(), 64U << 10);
  EXPECT_THAT(UnexpectedMarkdown(verdicts), HasSubstr(" more kinds in "));
  EXPECT_THAT(UnexpectedText(verdicts, kPlain), Not(HasSubstr("\n\n ")));
}

// Kills: a run that hides that most of its fails were never tried again.
TEST(UnexpectedTextTest, SaysHowManyWereNotRunAgain) {
  verdict::Verdicts verdicts;
  for (const int64_t attempts : {1, 4, 1}) {
    record::Record& record = verdicts.final.emplace_back();
    record.result.outcome = record::Outcome::kFail;
    record.result.attempt = attempts;
    verdicts.unexpected.push_back({"acme", "node/Abs/a", "fail", "x"});
  }
  EXPECT_THAT(UnexpectedText(verdicts, kPlain),
              HasSubstr("unexpected: 3, 2 of them not run again alone "
                        "(--repeats)\n"));
  verdicts.final[0].result.backend = "broken";
  record::BackendRow& broken = verdicts.backends.emplace_back();
  broken.backend = "broken";
  broken.unavailable_reason = "registers no backend";
  EXPECT_THAT(UnexpectedText(verdicts, kPlain),
              HasSubstr("unexpected: 3, 1 of them not run again alone"));
  verdicts.final[0].result.attempt = verdicts.final[2].result.attempt = 4;
  EXPECT_THAT(UnexpectedText(verdicts, kPlain), HasSubstr("unexpected: 3\n"));
}

// Kills: colours in a pipe, or in spite of NO_COLOR; a green fail.
TEST(ColoursTest, AreOfOutcomesAndHeadingsWhereTheyAreWanted) {
  using select::WantsColours;
  const struct {
    select::ColourFacts facts;
    bool wanted;
  } rows[] = {
      {{true, nullptr, nullptr, "xterm"}, true},
      {{false, nullptr, nullptr, "xterm"}, false},
      {{true, nullptr, nullptr, "dumb"}, false},
      {{true, nullptr, nullptr, nullptr}, false},
      {{true, "1", nullptr, "xterm"}, false},
      {{true, "", nullptr, "xterm"}, true},
      {{true, "1", "1", "xterm"}, false},
      {{false, nullptr, "1", "dumb"}, true},
      {{false, nullptr, "0", "xterm"}, false},
      {{true, nullptr, "0", "xterm"}, true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(WantsColours(row.facts), row.wanted) << &row - rows;
  }
  const select::Colours colours(true);
  EXPECT_EQ(colours.Equation("9 = pass 4 (vacuous 1) + xfail 2 + fail 3"),
            "9 = \x1B[32mpass 4\x1B[0m (vacuous 1) + xfail 2 + "
            "\x1B[31mfail 3\x1B[0m");
  EXPECT_EQ(colours.Outcome("policy"), "policy");
  EXPECT_EQ(kPlain.Equation("1 = fail 1"), "1 = fail 1");
  EXPECT_EQ(kPlain.Heading("x") + kPlain.Outcome("fail"), "xfail");
}

TEST(UnexpectedTextTest, CountsTheKindsThatAreNotShown) {
  verdict::Verdicts verdicts;
  EXPECT_EQ(UnexpectedText(verdicts, kPlain), "");
  for (char c = 'a'; c < 'a' + 12; ++c) {
    verdicts.unexpected.push_back({"acme", "", "lost", std::string(1, c)});
  }
  EXPECT_THAT(UnexpectedText(verdicts, kPlain),
              HasSubstr("  and 2 more kinds: "));
}

TEST(UnavailableTextTest, SaysWhyABackendIsNotThere) {
  verdict::Verdicts verdicts;
  verdicts.backends.emplace_back().backend = "good";
  EXPECT_EQ(UnavailableText(verdicts), "");
  record::BackendRow& acme = verdicts.backends.emplace_back();
  acme.backend = "acme";
  acme.unavailable_reason = "no ACME card";
  record::Record& record = verdicts.final.emplace_back();
  record.result.backend = "acme";
  record.result.outcome = record::Outcome::kError;
  EXPECT_EQ(UnavailableText(verdicts), "") << "it is said of its cases";
  record.result.outcome = record::Outcome::kUnavailable;
  EXPECT_EQ(UnavailableText(verdicts), "acme is unavailable: no ACME card\n");
  verdicts.unexpected.push_back({"acme", "", "unavailable", "no ACME card"});
  EXPECT_EQ(UnavailableText(verdicts), "") << "it is among the unexpected";
}

// Kills: one sentence for two questions: a run as expected of a backend that is
// not conformant, told as if all were well.
TEST(HeadlineTest, SaysIfAllIsAsExpectedAndIfConformant) {
  const verdict::Conformance good = {.backend = "a", .verdict = "conformant"};
  const verdict::Conformance waived = {.backend = "b",
                                       .verdict = "conformant with waivers"};
  const verdict::Conformance bad = {
      .backend = "c", .verdict = "not conformant", .reason = "xfail 6"};
  const verdict::Conformance part = {
      .backend = "d", .verdict = "partial", .reason = "a filter"};
  const struct {
    std::vector<verdict::Conformance> words;
    size_t unexpected;
    const char* text;
  } rows[] = {
      {{}, 0, "As expected."},
      {{good}, 0, "As expected. 1 of 1 conformant."},
      {{good, waived, bad},
       0,
       "As expected. 2 of 3 conformant: c is not (xfail 6)."},
      {{bad},
       2,
       "Not as expected: 2 unexpected. 0 of 1 conformant: c is not "
       "(xfail 6)."},
      {{part}, 0, "As expected. Conformance is not judged: a filter."},
      {{good, part},
       0,
       "As expected. 1 of 1 conformant: no word on d (a filter)."},
      {{bad, bad, bad, bad, bad},
       0,
       "As expected. 0 of 5 conformant: c is not (xfail 6), c is not (xfail "
       "6), c is not (xfail 6) and 2 more."},
  };
  for (const auto& row : rows) {
    verdict::Verdicts verdicts;
    verdicts.conformance = row.words;
    verdicts.unexpected.resize(row.unexpected);
    EXPECT_EQ(HeadlineText(verdicts, kPlain), row.text);
  }
}

// Kills: a line that is wider than the terminal, which leaves a line for each
// update; a count of cases that gives way to anything.
TEST(ProgressTest, TheLineFitsTheTerminal) {
  const struct {
    supervise::Progress now;
    double left_s;
    size_t columns;
    const char* text;
  } rows[] = {
      {{0, 8, 0}, -1, 27, "[            ] 0 of 8 cases"},
      {{5, 10, 0}, -1, 26, "[#####     ] 5 of 10 cases"},
      {{10, 10, 0}, -1, 27, "[##########] 10 of 10 cases"},
      {{5, 10, 2},
       12.4,
       60,
       "[#########          ] 5 of 10 cases, 2 unexpected, 12 s left"},
      {{5, 10, 2}, 12.4, 36, "5 of 10 cases, 2 unexpected"},
      {{5, 10, 2}, 12.4, 26, "5 of 10 cases, 12 s left"},
      {{5, 10, 2}, 12.4, 15, "5 of 10 cases"},
      {{5, 10, 2}, 12.4, 7, "5 of 10"},
      {{1, 2, 0}, 700, 38, "[#####     ] 1 of 2 cases, 12 min left"},
      {{1, 2, 0}, 7200, 22, "1 of 2 cases, 2 h left"},
  };
  for (const auto& row : rows) {
    const std::string text = ProgressText(row.now, row.left_s, row.columns);
    EXPECT_LE(text.size(), row.columns) << text;
    EXPECT_EQ(text, row.text) << row.columns;
  }
}

}  // namespace
}  // namespace assay::run
