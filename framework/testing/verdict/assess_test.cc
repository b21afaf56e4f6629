// SPDX-License-Identifier: Apache-2.0
//
// The gathering of journals, the weight of repeats, and the facts that
// a run's verdicts take over from plan, records and build.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/verdict/repeats.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::verdict {
namespace {

using enum record::Outcome;
using testing::HasSubstr;

plan::Plan PlanOfOne() {
  plan::Plan plan;
  plan::BackendUse& acme = plan.backends.emplace_back();
  acme.instance = "acme";
  acme.spec = "acme:isa=avx2";
  acme.settings_text = "isa=avx2";
  acme.module_sha256 = "abc";
  acme.claims = {"claim forward where op:Abs"};
  for (const std::string_view name : cases::kDefaultCorpora) {
    plan::CorpusUse& corpus = plan.corpora.emplace_back();
    corpus.name = name;
    corpus.standard = true;
    corpus.directory = "corpora/of/old";
  }
  record::PlanRow& row = plan.rows.emplace_back();
  row.test_id = "node/Abs/a";
  row.backend = "acme";
  row.settings = "isa=avx2";
  row.suite = "node";
  row.op = "Abs";
  row.domain = "ai.onnx";
  row.opset = 13;
  row.dtypes = "float32";
  row.shape_sig = "[2]";
  row.corpus = "onnx";
  row.claimed = true;
  row.drawn = true;
  return plan;
}

/// The word of a worker on the only case.
record::Record Said(record::Outcome outcome, const std::string& message = "",
                    int64_t attempt = 1) {
  record::Record record;
  record.result.test_id = "node/Abs/a";
  record.result.backend = "acme";
  record.result.outcome = outcome;
  record.result.message = message;
  record.result.attempt = attempt;
  return record;
}

Verdicts Of(const plan::Plan& plan, const std::vector<record::Record>& records,
            MutantKills mutants = {}) {
  RawRecords raw;
  for (const record::Record& record : records) {
    journal::JournalEntry entry;
    entry.kind = journal::FrameKind::kRecord;
    entry.record = record;
    EXPECT_TRUE(raw.Add(std::move(entry)).ok());
  }
  record::BackendRow& described = raw.backends["acme"];
  described.version = "3";
  described.module_sha256 = "of another";
  return Assess(plan, {0}, std::move(raw), {.mutants = std::move(mutants)});
}

// Kills: a column of a case that no worker gave a verdict on left empty.
TEST(AssessTest, AMissingCaseIsDescribedByItsPlan) {
  for (const char* vacuous : {"", "the output is constant"}) {
    plan::Plan plan = PlanOfOne();
    plan.rows[0].vacuous = vacuous;
    const record::ResultRow row = Of(plan, {}).final[0].result;
    EXPECT_EQ(row.outcome, kMissing);
    EXPECT_EQ(row.test_id + " " + row.backend + " " + row.settings,
              "node/Abs/a acme isa=avx2");
    EXPECT_EQ(row.suite + row.op + row.domain, "nodeAbsai.onnx");
    EXPECT_EQ(row.opset, 13);
    EXPECT_EQ(row.dtype + row.shape_sig, "float32[2]");
    EXPECT_EQ(row.vacuous, *vacuous != '\0');
    EXPECT_THAT(row.message, HasSubstr("no entry gave a verdict"));
  }
}

// Kills: a backend without the facts of its plan, or without its worker's.
TEST(AssessTest, ABackendIsDescribedByPlanAndWorker) {
  const plan::Plan plan = PlanOfOne();
  const Verdicts verdicts = Of(plan, {Said(kPass)});
  ASSERT_EQ(verdicts.backends.size(), 1U);
  EXPECT_EQ(verdicts.backends[0].backend, "acme");
  EXPECT_EQ(verdicts.backends[0].settings, "isa=avx2");
  EXPECT_EQ(verdicts.backends[0].module_sha256, "abc");
  EXPECT_EQ(verdicts.backends[0].version, "3");
  EXPECT_TRUE(verdicts.complete);
}

// Kills: a policy that was chosen for another processor than the run's, or for
// that of one worker alone; a worker that could not run asked; a policy without
// conditions that is planned anew on each machine.
TEST(AssessTest, APolicyIsThatOfTheInstructionSetsThatRan) {
  const struct {
    bool needs_isa;
    std::vector<std::string> planned;
    std::vector<std::string> told;  // by each worker; "-": it was unavailable
    std::string_view fault;
  } rows[] = {
      {true, {"sse", "avx"}, {"sse avx", "sse avx"}, ""},
      {true, {"sse", "avx"}, {"sse"}, "sets 'sse', and its policy is that for"},
      {true, {"sse"}, {"sse", "sse avx"}, "'sse avx', and its policy is that"},
      {true, {}, {"sse"}, "for '': plan where it runs"},
      {true, {"sse"}, {"-"}, ""},
      {true, {"sse"}, {}, ""},
      {false, {"sse"}, {"avx"}, ""},
  };
  for (const auto& row : rows) {
    plan::Plan plan = PlanOfOne();
    plan.backends[0].needs_isa = row.needs_isa;
    plan.backends[0].isa = row.planned;
    RawRecords raw;
    for (const std::string& isa : row.told) {
      journal::JournalEntry entry;
      entry.kind = journal::FrameKind::kBackend;
      entry.backend.backend = "acme";
      (isa == "-" ? entry.backend.unavailable_reason : entry.backend.isa) = isa;
      EXPECT_TRUE(raw.Add(std::move(entry)).ok());
    }
    raw.records[{"acme", "node/Abs/a"}] = Said(kPass);
    const Verdicts verdicts =
        Assess(plan, {0}, std::move(raw), {.whole = false});
    ASSERT_EQ(verdicts.unexpected.size(), row.fault.empty() ? 0U : 1U)
        << row.fault;
    if (row.fault.empty()) continue;
    EXPECT_EQ(verdicts.unexpected[0].outcome, "policy");
    EXPECT_THAT(verdicts.unexpected[0].reason,
                HasSubstr(std::string(row.fault)));
  }
}

// Kills: a corpus of one's own that the line does not name, or a default one
// that it does.
TEST(AssessTest, TheLineThatRepeatsACaseNamesItsCorpus) {
  plan::Plan plan = PlanOfOne();
  const std::string line =
      "assay run --backend acme:isa=avx2 --filter 'id:node/Abs/a'";
  const auto repro = [&] {
    return Of(plan, {Said(kPass)}).final[0].result.repro;
  };
  EXPECT_EQ(repro(), line);
  for (plan::CorpusUse& corpus : plan.corpora) {
    if (corpus.name != "onnx") continue;
    corpus.standard = false;
    corpus.directory = "a/b";
  }
  EXPECT_EQ(repro(), line + " --corpus a/b");
  plan::CorpusUse& mine = plan.corpora.emplace_back();
  mine.name = "mine";
  mine.standard = true;
  mine.directory = "c/d";
  plan.rows[0].corpus = "mine";
  EXPECT_EQ(repro(), line + " --corpus c/d");
}

// Kills: a table of kills that no verdict looks at.
TEST(AssessTest, ASurvivorOfTheHarnessIsInTheWay) {
  const plan::Plan plan = PlanOfOne();
  MutantKills kills;
  kills.not_assessed = "";
  kills.build_id = "this";
  kills.total = kills.tried = 2;
  kills.harness_killed = 2;
  Verdicts verdicts = Of(plan, {Said(kPass)}, kills);
  EXPECT_EQ(verdicts.mutants.build_id, "this");
  EXPECT_EQ(verdicts.conformance[0].verdict, "conformant");
  EXPECT_THAT(verdicts.conformance[0].reason, HasSubstr("; mutants: 2 of 2"));
  kills.harness_killed = 1;
  kills.survivors = {"a"};
  verdicts = Of(plan, {Said(kPass)}, kills);
  EXPECT_EQ(verdicts.conformance[0].verdict, "not conformant");
  EXPECT_THAT(verdicts.conformance[0].reason, HasSubstr("not killed: a"));
}

// Kills: a fail without the word of its oracle; a word on what is no fail, or
// from rows that cannot be read.
TEST(AssessTest, AFailHasTheWordOfItsOracle) {
  const plan::Plan plan = PlanOfOne();
  for (const record::Outcome outcome : {kFail, kError}) {
    record::Record record = Said(outcome, "off");
    for (const char* side : {"oracle", "expected_oracle"}) {
      record::AccuracyRow row;
      row.reference = side;
      record.Add(row);
    }
    EXPECT_EQ(Of(plan, {record}).unexpected.at(0).reason,
              outcome == kError
                  ? "off"
                  : "off; by the oracle neither side is the worse: expected 0 "
                    "ULP from the exact values, got 0 ULP");
    record.rows[0].fields = "7";
    EXPECT_EQ(Of(plan, {record}).unexpected.at(0).reason, "off");
  }
}

// Kills: attempts that are lost or counted twice, a pass among failures that
// makes the case pass, or is not said.
TEST(AssessTest, RepeatsDecideOnWhatIsFlaky) {
  const plan::Plan plan = PlanOfOne();
  const struct {
    std::vector<record::Outcome> repeats;
    record::Outcome outcome;
    const char* message;
  } rows[] = {
      {{}, kFail, "at first"},
      {{kFail, kFail}, kFail, "at first"},
      {{kFail, kPass}, kFlaky, "passes 1 of 3 times; at first fail: at"},
  };
  for (const auto& row : rows) {
    std::vector<record::Record> records = {Said(kFail, "at first")};
    for (const record::Outcome outcome : row.repeats) {
      records.push_back(Said(outcome, "", std::ssize(records) + 1));
    }
    const Verdicts verdicts = Of(plan, records);
    const record::ResultRow& final = verdicts.final[0].result;
    EXPECT_EQ(final.outcome, row.outcome);
    EXPECT_THAT(final.message, HasSubstr(row.message));
    EXPECT_EQ(final.attempt, static_cast<int64_t>(records.size()));
    ASSERT_EQ(verdicts.attempts.size(), records.size());
    for (size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(verdicts.attempts[i].attempt, static_cast<int64_t>(i) + 1);
    }
  }
}

// Kills: a crash of nobody, which leaves the run green; a crash that an
// expectation of the case excuses; a case that keeps what it did behind
// another.
TEST(AssessTest, ACrashBehindAnotherCaseIsTheBackends) {
  for (const bool expected : {false, true}) {
    plan::Plan plan = PlanOfOne();
    plan.rows[0].claimed = false;
    if (expected) {
      plan.rows[0].expected = kFail;
      plan.rows[0].expected_source = "expectations.txt:1";
    }
    std::vector<record::Record> records = {Said(kCrash, "SIGSEGV")};
    for (int64_t attempt = 2; attempt < 5; ++attempt) {
      records.push_back(
          Said(expected ? kFail : kUnsupported, "alone", attempt));
      records.back().result.reason_code = "dtype";
    }
    records.back().result.outcome = kCrash;
    records.back().result.after = "node/A/a";
    const Verdicts verdicts = Of(plan, records);
    const record::ResultRow& final = verdicts.final[0].result;
    EXPECT_EQ(final.outcome, expected ? kXfail : kUnsupported);
    EXPECT_EQ(final.reason_code, "dtype");
    EXPECT_THAT(final.message, HasSubstr("alone; crashes behind other cases"));
    const auto crash =
        std::ranges::find(verdicts.unexpected, "crash", &Unexpected::outcome);
    ASSERT_NE(crash, verdicts.unexpected.end());
    EXPECT_EQ(crash->test_id, "");
    EXPECT_THAT(crash->reason, HasSubstr("2 of 2 times, crash after node/A/a"));
    EXPECT_EQ(verdicts.ExitCode(), 1);
  }
}

// Kills: an attempt that is taken twice.
TEST(AssessTest, ASecondRecordOfAnAttemptIsDataLoss) {
  journal::JournalEntry entry;
  entry.kind = journal::FrameKind::kRecord;
  entry.record = Said(kPass);
  for (const int64_t attempt : {1, 2, 3}) {
    RawRecords raw;
    entry.record.result.attempt = attempt;
    EXPECT_TRUE(raw.Add(entry).ok()) << attempt;
    EXPECT_EQ(raw.Add(entry).code(), StatusCode::kDataLoss) << attempt;
    entry.record.result.attempt = attempt + 1;
    EXPECT_TRUE(raw.Add(entry).ok()) << attempt;
  }
}

// Kills: cases judged with two builds of a library under one verdict.
TEST(RawRecordsTest, ALibraryOfTwoContentsIsRefusedByName) {
  RawRecords raw;
  journal::JournalEntry entry;
  entry.kind = journal::FrameKind::kDigests;
  entry.text = "acme\n111 /lib/liba.so\n222 /lib/libb.so\n";
  ASSERT_TRUE(raw.Add(entry).ok());
  ASSERT_TRUE(raw.Add(entry).ok());
  entry.text = "acme\n333 /lib/libc.so\n";
  ASSERT_TRUE(raw.Add(entry).ok());
  entry.text = "other\n999 /lib/liba.so\n";
  ASSERT_TRUE(raw.Add(entry).ok()) << "it is another backend's";
  EXPECT_EQ(raw.files["acme"].size(), 3U);
  entry.text = "acme\n111 /lib/liba.so\n999 /lib/libb.so\n";
  const Status status = raw.Add(entry);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  for (const char* part : {"acme", "/lib/libb.so", "222", "999"}) {
    EXPECT_THAT(status.message(), HasSubstr(part));
  }
  plan::Plan plan;
  plan.backends.resize(1);
  plan.backends[0].instance = "acme";
  const auto build_of = [&](const std::string& digest) {
    RawRecords one;
    one.files["acme"]["/lib/liba.so"] = digest;
    return Assess(plan, {}, std::move(one), {.whole = false})
        .backends.at(0)
        .build_id;
  };
  EXPECT_EQ(build_of("111").size(), 64U);
  EXPECT_NE(build_of("111"), build_of("112"));
}

// Kills: records of another plan, or of none, taken for this one's.
TEST(RawRecordsTest, AJournalOfAnotherPlanIsRefusedByName) {
  const file::ScratchFolder folder;
  record::Record record;
  record.result.test_id = "node/Abs/a";
  const struct {
    const char* written_for;
    bool taken;
  } rows[] = {{"plan", true}, {"other", false}, {"", false}};
  for (const auto& row : rows) {
    const auto file = folder.path() / StrCat("of_", row.written_for);
    ASSERT_TRUE(
        journal::Journal::Open(file, row.written_for)->Append(record).ok());
    RawRecords raw;
    const Status status = Collect(file, "plan", &raw);
    EXPECT_EQ(status.ok(), row.taken) << row.written_for;
    EXPECT_EQ(raw.records.size(), row.taken ? 1U : 0U) << row.written_for;
    if (row.taken) continue;
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr(file.string()));
    EXPECT_THAT(status.message(), HasSubstr("another plan or module"));
  }
}

TEST(RawRecordsTest, TheJournalsOfAFolderAreGathered) {
  const file::ScratchFolder folder;
  folder.Write("notes.txt", "no journal");
  record::Record record;
  for (const char* name : {"a", "b"}) {
    record.result.test_id = StrCat("node/Abs/", name);
    const auto file = folder.path() / StrCat(name, ".journal");
    ASSERT_TRUE(journal::Journal::Open(file, "plan")->Append(record).ok());
  }
  RawRecords raw;
  const Status status = CollectFolder(folder.path(), "plan", &raw);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(raw.records.size(), 2U);
}

using Kind = Stability::Kind;

// Kills: a pass among repeats that makes a fail a pass; a case called flaky
// that another one spoils; a spoiler taken for one where alone it failed too.
TEST(StabilityTest, IsReadOffTheAttempts) {
  struct Attempt {
    const char* outcome;
    const char* after = "";
  };
  using Attempts = std::vector<Attempt>;
  const struct {
    Attempts repeats;
    Kind kind;
    const char* text;
    const char* first = "fail";
  } rows[] = {
      {{}, Kind::kUnknown, ""},
      {{{"fail"}, {"fail"}}, Kind::kDeterministic, "no pass in 3 attempts"},
      {{{"crash"}, {"error"}}, Kind::kDeterministic, "no pass in 3 attempts"},
      {{{"pass"}, {"fail"}}, Kind::kFlaky, "passes 1 of 3 times"},
      {{{"pass"}, {"pass"}}, Kind::kFlaky, "passes 2 of 3 times"},
      {Attempts{{"pass"}, {"crash", "node/A/a"}}, Kind::kOrderDependent,
       "passes alone 1 of 1 times, crash after node/A/a"},
      {{{"pass"}, {"pass", "node/A/a"}}, Kind::kFlaky, "passes 2 of 3 times"},
      {Attempts{{"pass"}, {"fail"}, {"fail", "node/A/a"}}, Kind::kFlaky,
       "passes 1 of 4 times"},
      {Attempts{{"crash"}, {"unsupported"}}, Kind::kDeterministic,
       "no pass in 3 attempts", "crash"},
      {Attempts{{"unsupported"}, {"unsupported"}}, Kind::kCrashesBehind,
       "alone unsupported 2 of 2 times", "crash"},
      {Attempts{{"fail"}, {"fail"}, {"crash", "node/A/a"}},
       Kind::kCrashesBehind, "alone fail 2 of 2 times, crash after node/A/a",
       "crash"},
      {Attempts{{"fail"}, {"fail", "node/A/a"}}, Kind::kCrashesBehind,
       "alone fail 1 of 1 times$", "crash"},
      {{{"pass"}, {"fail"}}, Kind::kFlaky, "passes 1 of 3 times", "crash"},
      {{{"fail"}, {"fail"}}, Kind::kDeterministic, "no pass", "timeout"},
      {{{"pass"}, {"fail"}}, Kind::kFlaky, "passes 2 of 3 times", "pass"},
      {{{"pass"}, {"pass"}}, Kind::kUnknown, "", "pass"},
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

// Kills: a fault of a folder charged to a backend, or said of a part of a run.
TEST(AssessTest, ABadCaseIsUnexpectedOnceAndNobodys) {
  plan::Plan plan = PlanOfOne();
  plan.bad_cases = {"mine/x: model.onnx: is malformed"};
  const Verdicts verdicts = Of(plan, {Said(kPass)});
  ASSERT_EQ(verdicts.unexpected.size(), 1U);
  EXPECT_EQ(verdicts.unexpected[0].backend, "");
  EXPECT_EQ(verdicts.unexpected[0].outcome, "bad case");
  EXPECT_EQ(verdicts.unexpected[0].reason, plan.bad_cases[0]);
  EXPECT_EQ(verdicts.ExitCode(), 1);
  EXPECT_EQ(verdicts.conformance[0].verdict, "conformant");
  RawRecords raw;
  raw.records[{"acme", "node/Abs/a"}] = Said(kPass);
  EXPECT_TRUE(
      Assess(plan, {0}, std::move(raw), {.whole = false}).unexpected.empty());
}

// Kills: a line about a case that is derived from one's own, and does not name
// what it is derived from; a word that a shell takes for several.
TEST(AssessTest, ARepeatNamesTheCorporaOfTheCase) {
  const struct {
    const char* directory;
    const char* words;
    const char* corpus;  // of the case
    const char* repro;   // its end
  } rows[] = {
      {"/x/mine", "", "mine", "'id:node/Abs/a' --corpus /x/mine"},
      {"/x/mine", "", "redrawn",
       "'id:node/Abs/a' --corpus /x/mine --corpus redrawn"},
      {"/x/it's mine", "", "mine", "--corpus '/x/it'\\''s mine'"},
      {"/x/own", "--model /m.onnx --dim n=4", "gradcheck",
       "--model /m.onnx --dim n=4 --corpus gradcheck"},
      {"/y/other", "", "redrawn", "'id:node/Abs/a'"},
  };
  for (const auto& row : rows) {
    plan::Plan plan = PlanOfOne();
    plan::CorpusUse& mine = plan.corpora.emplace_back();
    mine.name = "mine";
    mine.directory = row.directory;
    mine.words = row.words;
    plan.rows[0].corpus = row.corpus;
    plan.rows[0].directory = row.directory[1] == 'x'
                                 ? StrCat(row.directory, "/test_a")
                                 : std::string("/x/mine/test_a");
    EXPECT_THAT(Of(plan, {Said(kFail)}).final[0].result.repro,
                testing::EndsWith(row.repro));
  }
}

}  // namespace
}  // namespace assay::verdict
