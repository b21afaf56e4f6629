// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::verdict {
namespace {

using testing::HasSubstr;

record::PlanRow RowOf(const std::string& test_id, bool claimed = false) {
  record::PlanRow row;
  row.test_id = test_id;
  row.backend = "acme";
  row.corpus = "onnx";
  row.suite = "node";
  row.claimed = claimed;
  row.drawn = true;
  return row;
}

// Kills: any outcome taken for the expected one; xpass only for `expect fail`;
// a waiver without use of the loosened limit; a declined claim let through.
TEST(VerdictTest, TheFinalOutcomeFollowsFromPlanAndRaw) {
  const struct {
    std::string raw, expected;
    bool loosened;  // the worker judged by the tolerate line
    bool claimed;
    std::string final;
    std::string message;  // a part of it
    bool at_some_seeds = false;
  } rows[] = {
      {"pass", "", false, false, "pass", "raw"},
      {"pass", "", false, true, "pass", "raw"},
      {"pass", "", true, false, "waived", "expectations.txt:9"},
      {"pass", "fail", false, false, "xpass", "expectations.txt:3: reason"},
      {"pass", "fail", true, false, "xpass", "expectations.txt:3: reason"},
      {"pass", "crash", false, true, "xpass", "expected crash"},
      {"pass", "unsupported", false, false, "xpass", "expected unsupported"},
      {"fail", "", false, false, "fail", "raw"},
      {"fail", "fail", false, false, "xfail", "expectations.txt:3: reason"},
      {"fail", "fail", false, true, "xfail", "raw"},
      {"pass", "fail", false, false, "pass", "raw", true},
      {"pass", "fail", true, false, "waived", "expectations.txt:9", true},
      {"fail", "fail", false, false, "xfail",
       "expected fail at some seeds, expectations.txt:3: reason", true},
      {"suspect", "fail", false, false, "suspect", "raw", true},
      {"crash", "fail", false, false, "crash", "raw", true},
      {"unsupported", "fail", false, true, "fail", "declined inside", true},
      {"fail", "crash", false, false, "fail", "raw"},
      {"crash", "crash", false, false, "xfail", "raw"},
      {"crash", "fail", false, false, "crash", "raw"},
      {"error", "error", false, false, "xfail", "raw"},
      {"error", "", false, false, "error", "raw"},
      {"timeout", "timeout", false, false, "xfail", "raw"},
      {"timeout", "crash", false, false, "timeout", "raw"},
      {"unsupported", "", false, false, "unsupported", "raw"},
      {"unsupported", "", false, true, "fail", "declined inside its claims"},
      {"unsupported", "unsupported", false, false, "unsupported", "raw"},
      {"unsupported", "unsupported", false, true, "fail", "declined inside"},
      {"pass", "flaky", false, false, "pass", "raw"},
      {"flaky", "flaky", false, false, "xfail", "raw"},
      {"unavailable", "", false, true, "unavailable", "raw"},
      {"unavailable", "fail", false, false, "unavailable", "raw"},
      {"unavailable", "unavailable", false, false, "unavailable", "raw"},
      {"missing", "missing", false, false, "missing", "raw"},
      {"missing", "crash", false, true, "missing", "raw"},
  };
  for (const auto& row : rows) {
    record::PlanRow planned = RowOf("node/Abs/a", row.claimed);
    planned.expected = record::ParseOutcome(row.expected);
    planned.expected_at_some_seeds = row.at_some_seeds;
    planned.expected_source = "expectations.txt:3";
    planned.because = "reason";
    planned.tolerate_source = "expectations.txt:9";
    record::ResultRow raw;
    raw.outcome = *record::ParseOutcome(row.raw);
    raw.message = "raw";
    raw.limit_source = row.loosened ? "expectations.txt:9" : "onnx";
    const record::ResultRow final = Finalize(planned, raw);
    const std::string what = StrCat(row.raw, ", expected '", row.expected,
                                    "', claimed ", row.claimed);
    EXPECT_EQ(ToString(final.outcome), row.final) << what;
    EXPECT_THAT(final.message, HasSubstr(row.message)) << what;
  }
}

// A plan of backend acme whose case i is node/Abs/<letter>, and what a worker
// says of it.
struct Trial {
  plan::Plan plan;
  RawRecords raw;

  void Add(record::PlanRow row, const std::string& outcome,
           bool vacuous = false) {
    if (!outcome.empty()) {
      record::Record record;
      record.result.test_id = row.test_id;
      record.result.backend = row.backend;
      record.result.outcome = *record::ParseOutcome(outcome);
      record.result.vacuous = vacuous;
      raw.records[{row.backend, row.test_id}] = record;
    }
    plan.rows.push_back(std::move(row));
  }

  Verdicts Judge(AssessOptions options = {}) const {
    std::vector<size_t> rows(plan.rows.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    return Assess(plan, rows, raw, std::move(options));
  }
};

struct Case {
  std::string outcome;  // raw; empty: no record
  bool claimed = false;
};

using Cases = std::vector<Case>;

Trial TrialOf(const Cases& cases) {
  Trial trial;
  plan::BackendUse acme;
  acme.instance = "acme";
  acme.spec = "acme";
  acme.claims = {"claim forward where op:Abs"};
  trial.plan.backends = {acme};
  for (const std::string_view name : cases::kDefaultCorpora) {
    plan::CorpusUse& corpus = trial.plan.corpora.emplace_back();
    corpus.name = name;
    corpus.standard = true;
  }
  char letter = 'a';
  for (const Case& c : cases) {
    trial.Add(RowOf(StrCat("node/Abs/", letter++), c.claimed), c.outcome);
  }
  return trial;
}

std::vector<std::string> UnexpectedOf(const Verdicts& verdicts) {
  std::vector<std::string> texts;
  for (const Unexpected& u : verdicts.unexpected) {
    texts.push_back(StrCat(u.test_id, " ", u.outcome));
  }
  return texts;
}

// Kills: a case counted twice or not at all; vacuous cases that did not pass
// counted; corpora or backends thrown together.
TEST(VerdictTest, TheEquationHoldsPerBackendAndCorpus) {
  Trial trial = TrialOf({{"pass"}, {"fail"}, {"unsupported"}, {""}});
  trial.Add(RowOf("node/Abs/v"), "pass", /*vacuous=*/true);
  trial.Add(RowOf("node/Abs/w"), "fail", /*vacuous=*/true);
  record::PlanRow other = RowOf("node/Abs/x");
  other.corpus = "mine";
  trial.Add(other, "pass");
  const Verdicts verdicts = trial.Judge();
  ASSERT_EQ(verdicts.tallies.size(), 2U);
  EXPECT_EQ(verdicts.tallies[0].Equation(),
            "6 = pass 2 (vacuous 1) + fail 2 + unsupported 1 + missing 1");
  EXPECT_EQ(verdicts.tallies[1].Equation(), "1 = pass 1 (vacuous 0)");
  for (const Tally& tally : verdicts.tallies) EXPECT_TRUE(tally.Balanced());
  EXPECT_EQ(verdicts.Judged(), 5);
  EXPECT_EQ(verdicts.final.size(), 7U);
  EXPECT_EQ(verdicts.attempts.size(), 6U);
  EXPECT_FALSE(verdicts.complete);
  Tally broken = verdicts.tallies[0];
  ++broken.planned;
  EXPECT_FALSE(broken.Balanced());
}

// Kills: missing cases passed over; a red outcome that is not listed.
TEST(VerdictTest, WhatIsUnexpectedIsListed) {
  const Verdicts verdicts = TrialOf({{"pass"},
                                     {"fail"},
                                     {"unsupported"},
                                     {"unsupported", true},
                                     {"crash"},
                                     {""}})
                                .Judge();
  EXPECT_THAT(UnexpectedOf(verdicts),
              testing::ElementsAre("node/Abs/b fail", "node/Abs/d fail",
                                   "node/Abs/e crash", "node/Abs/f missing"));
  EXPECT_EQ(verdicts.ExitCode(), 1);
}

// Kills: an end of a worker that turns nothing red, or that is said as often as
// there were workers.
TEST(VerdictTest, AnEndOutsideOfAnyCaseIsUnexpectedAndSaidOnce) {
  plan::Plan plan;
  plan.backends.resize(1);
  plan.backends[0].instance = "acme";
  journal::JournalEntry entry;
  entry.kind = journal::FrameKind::kLoss;
  entry.record.result.backend = "acme";
  entry.record.result.outcome = record::Outcome::kCrash;
  entry.record.result.message = "the worker ended after its last case";
  RawRecords raw;
  ASSERT_TRUE(raw.Add(entry).ok());
  ASSERT_TRUE(raw.Add(entry).ok());
  const Verdicts verdicts = Assess(plan, {}, std::move(raw), {.whole = false});
  ASSERT_EQ(verdicts.unexpected.size(), 1U);
  EXPECT_EQ(verdicts.unexpected[0].backend, "acme");
  EXPECT_EQ(verdicts.unexpected[0].test_id, "");
  EXPECT_EQ(verdicts.unexpected[0].outcome, "crash");
  EXPECT_THAT(verdicts.unexpected[0].reason, HasSubstr("after its last case"));
  EXPECT_EQ(verdicts.ExitCode(), 1);
}

// Kills: an expected fail that is now declined, taken for information.
TEST(VerdictTest, AnExpectationThatNoLongerHoldsIsUnexpected) {
  const struct {
    const char *raw, *expected;
    bool red;
    bool at_some_seeds = false;
  } rows[] = {
      {"unsupported", "fail", true}, {"unsupported", "unsupported", false},
      {"waived", "fail", true},      {"unsupported", "", false},
      {"fail", "fail", false},       {"fail", "crash", true},
      {"pass", "fail", true},        {"pass", "flaky", false},
      {"pass", "fail", false, true}, {"unsupported", "fail", true, true},
  };
  for (const auto& row : rows) {
    Trial trial = TrialOf({{"pass"}});
    record::PlanRow planned = RowOf("node/Abs/z");
    planned.expected = record::ParseOutcome(row.expected);
    planned.expected_at_some_seeds = row.at_some_seeds;
    trial.Add(planned, row.raw);
    EXPECT_EQ(!trial.Judge().unexpected.empty(), row.red)
        << row.raw << ", expected " << row.expected;
  }
}

// Kills: floors and lines about one corpus held against a run of another.
TEST(VerdictTest, ARunWithoutTheDefaultCorpusIsPartial) {
  Trial trial = TrialOf({{"pass", true}});
  trial.plan.backends[0].floor = {"node/Abs/gone"};
  EXPECT_FALSE(trial.Judge().unexpected.empty());
  trial.plan.corpora[0].name = "mine";
  const Verdicts verdicts = trial.Judge();
  EXPECT_TRUE(verdicts.unexpected.empty());
  EXPECT_EQ(verdicts.conformance[0].verdict, "partial");
}

// Kills: success without a judged case; 77 although something was judged; an
// allowance that also covers failures.
TEST(VerdictTest, ExitCodesSayWhatTheRunWas) {
  const struct {
    std::string name;
    Cases cases;
    int strict, allowing;
  } rows[] = {
      {"all pass", {{"pass"}, {"pass"}}, 0, 0},
      {"one fails", {{"pass"}, {"fail"}}, 1, 1},
      {"some declined", {{"pass"}, {"unsupported"}}, 0, 0},
      {"all declined", {{"unsupported"}, {"unsupported"}}, 1, 1},
      {"all unavailable", {{"unavailable"}, {"unavailable"}}, 1, 77},
      {"one unavailable", {{"unavailable"}}, 1, 77},
      {"some unavailable", {{"pass"}, {"unavailable"}}, 1, 0},
      {"unavailable and a failure", {{"fail"}, {"unavailable"}}, 1, 1},
      {"missing", {{"pass"}, {""}}, 1, 1},
  };
  for (const auto& row : rows) {
    const Trial trial = TrialOf(row.cases);
    EXPECT_EQ(trial.Judge().ExitCode(), row.strict) << row.name;
    EXPECT_EQ(trial.Judge({.allow_unavailable = true}).ExitCode(), row.allowing)
        << row.name;
  }
}

// Kills: declining everything as a success; a part judged like the whole.
TEST(VerdictTest, ABackendThatDeclinesEverythingIsRed) {
  const Trial trial = TrialOf({{"unsupported"}, {"unsupported"}});
  EXPECT_THAT(UnexpectedOf(trial.Judge()),
              testing::ElementsAre(" nothing judged"));
  EXPECT_EQ(trial.Judge().unexpected[0].reason,
            "none of 2 planned cases was judged");
  EXPECT_EQ(trial.Judge().ExitCode(), 1);
  const Verdicts part = trial.Judge({.whole = false});
  EXPECT_TRUE(UnexpectedOf(part).empty());
  EXPECT_EQ(part.ExitCode(), 0) << "another part may have what it judges";
  EXPECT_THAT(UnexpectedOf(TrialOf({}).Judge()),
              testing::ElementsAre(" nothing judged"));
}

// Kills: a backend judged by the cases of another, or described as another.
TEST(VerdictTest, EachBackendIsJudgedByItsOwnCases) {
  Trial trial = TrialOf({{"unsupported"}});
  plan::BackendUse& other = trial.plan.backends.emplace_back();
  other.instance = other.spec = "other+x=1";
  other.settings_text = "x=1";
  other.module_sha256 = "ab";
  other.claims = {"claim \"\xC3\xA4\"", "claim b"};
  other.floor = {"node/Abs/a"};
  trial.plan.corpora.emplace_back().name = "mine";
  trial.plan.corpora.back().directory = "/mine";
  record::PlanRow row = RowOf("node/Abs/a");
  row.backend = "other+x=1";
  row.corpus = "mine";
  trial.Add(row, "pass");
  for (const char* message : {"ended", "ended", "left"}) {
    journal::JournalEntry entry;
    entry.kind = journal::FrameKind::kLoss;
    entry.record.result.backend = row.backend;
    entry.record.result.message = message;
    ASSERT_TRUE(trial.raw.Add(entry).ok());
  }
  const Verdicts verdicts = trial.Judge();
  EXPECT_THAT(UnexpectedOf(verdicts),
              testing::ElementsAre(" missing", " missing", " nothing judged"));
  EXPECT_EQ(verdicts.unexpected.back().backend, "acme");
  EXPECT_EQ(verdicts.tallies.size(), 2U);
  EXPECT_EQ(verdicts.final[0].result.repro,
            "assay run --backend acme --filter 'id:node/Abs/a'");
  EXPECT_EQ(verdicts.final[1].result.repro,
            "assay run --backend other+x=1 --filter 'id:node/Abs/a' --corpus "
            "/mine");
  EXPECT_EQ(verdicts.backends[1].settings, "x=1");
  EXPECT_EQ(verdicts.backends[1].module_sha256, "ab");
  EXPECT_EQ(verdicts.backends[1].claims_json,
            "[\"claim \\\"\xC3\xA4\\\"\",\"claim b\"]");
}

// Kills: a floor that counts: losing one id while another is gained.
TEST(VerdictTest, LosingOneIdOfTheFloorIsRed) {
  const std::string floor = "node/Abs/a";
  const struct {
    std::string name;
    Cases cases;
    std::string floor;
    std::string unexpected = "";
    std::string filter = "";
    bool whole = true;
  } rows[] = {
      {"kept", Cases{{"pass"}, {"unsupported"}}, floor},
      {"gained", Cases{{"pass"}, {"pass"}}, floor},
      {"lost, another gained", Cases{{"unsupported"}, {"pass"}}, floor,
       "node/Abs/a unsupported"},
      {"failed, listed once", Cases{{"fail"}, {"pass"}}, floor,
       "node/Abs/a fail"},
      {"no longer planned", Cases{{"pass"}}, "node/Abs/gone",
       "node/Abs/gone missing"},
      {"left out by a filter", Cases{{"pass"}}, "node/Abs/gone", "", "a"},
      {"in another part", Cases{{"pass"}}, "node/Abs/gone", "", "", false},
      {"lost in a part", Cases{{"unsupported"}, {"pass"}}, floor,
       "node/Abs/a unsupported", "", false},
      {"the library is missing", Cases{{"unavailable"}}, floor, " unavailable"},
  };
  for (const auto& row : rows) {
    Trial trial = TrialOf(row.cases);
    trial.plan.backends[0].floor = {row.floor};
    trial.plan.selection.filter = row.filter;
    std::vector<std::string> unexpected;
    if (!row.unexpected.empty()) unexpected.push_back(row.unexpected);
    EXPECT_EQ(UnexpectedOf(trial.Judge({.whole = row.whole})), unexpected)
        << row.name;
  }
}

// Kills: unmatched lines passed over, or judged in a part or filtered trial.
TEST(VerdictTest, LinesThatMatchNothingAreRedOverTheWholePlan) {
  Trial trial = TrialOf({{"pass"}});
  trial.plan.backends[0].policy_errors = {
      "expectations.txt:7: matches no case"};
  EXPECT_THAT(UnexpectedOf(trial.Judge()), testing::ElementsAre(" policy"));
  EXPECT_EQ(trial.Judge().ExitCode(), 1);
  EXPECT_TRUE(UnexpectedOf(trial.Judge({.whole = false})).empty());
  trial.plan.selection.filter = "op:Abs";
  EXPECT_TRUE(UnexpectedOf(trial.Judge()).empty());
}

// Kills: an unexpected result outside the claims beside the word; an xfail or a
// missing case inside them let through; a filtered run called conformant.
TEST(VerdictTest, TheWordIsOverTheClaims) {
  const plan::Selection full;
  plan::Selection filtered;
  filtered.filter = "op:Abs";
  plan::Selection smoke;
  smoke.tier = "smoke";
  const struct {
    std::string name;
    Cases cases;
    std::string word;
    plan::Selection selection = {};
    bool whole = true;
  } rows[] = {
      {"all pass", Cases{{"pass", true}, {"pass"}}, "conformant"},
      {"fails outside", Cases{{"pass", true}, {"fail"}}, "not conformant"},
      {"expected outside", Cases{{"pass", true}, {"xfail"}}, "conformant"},
      {"waived", Cases{{"pass", true}, {"waived", true}},
       "conformant with waivers"},
      {"fails", Cases{{"pass", true}, {"fail", true}}, "not conformant"},
      {"declined", Cases{{"pass", true}, {"unsupported", true}},
       "not conformant"},
      {"xfail", Cases{{"pass", true}, {"xfail", true}}, "not conformant"},
      {"missing library", Cases{{"pass", true}, {"unavailable", true}},
       "not conformant"},
      {"no claims match", Cases{{"pass"}}, "not conformant"},
      {"unfinished", Cases{{"pass", true}, {"", true}}, "not conformant"},
      {"unfinished outside", Cases{{"pass", true}, {""}}, "partial"},
      {"filtered", Cases{{"pass", true}}, "partial", filtered},
      {"smoke", Cases{{"pass", true}}, "partial", smoke},
      {"a part", Cases{{"pass", true}}, "partial", full, false},
  };
  for (const auto& row : rows) {
    Trial trial = TrialOf(row.cases);
    trial.plan.selection = row.selection;
    const Verdicts verdicts = trial.Judge({.whole = row.whole});
    ASSERT_EQ(verdicts.conformance.size(), 1U);
    EXPECT_EQ(verdicts.conformance[0].verdict, row.word) << row.name;
    EXPECT_FALSE(verdicts.conformance[0].reason.empty()) << row.name;
  }
  Trial silent = TrialOf({{"pass", true}});
  silent.plan.backends[0].claims.clear();
  EXPECT_EQ(silent.Judge().conformance[0].verdict, "not conformant");
  EXPECT_THAT(TrialOf({{"pass", true}}).Judge().conformance[0].reason,
              HasSubstr("not assessed"));
}

// Kills: a line that leaves out what decides the outcome.
TEST(VerdictTest, EveryVerdictSaysHowToRepeatIt) {
  Trial trial = TrialOf({{"fail"}});
  EXPECT_THAT(trial.Judge().final[0].result.repro,
              HasSubstr("--backend acme --filter 'id:node/Abs/a'"));
  trial.plan.selection.seed = 7;
  // Any table with that column says the same.
  trial.raw.records.begin()->second.Add(record::ResultRow());
  const record::Record judged = trial.Judge().final[0];
  EXPECT_THAT(judged.result.repro, HasSubstr("--seed 7"));
  EXPECT_EQ(judged.Rows<record::ResultRow>()->at(0).repro, judged.result.repro);
}

// Kills: a case that no oracle can judge, charged to the backend.
TEST(VerdictTest, AnUndecidedCaseIsNeitherInTheClaimsNorAgainstThem) {
  Trial trial = TrialOf({{"pass", true}, {"unsupported", true}});
  EXPECT_EQ(trial.Judge().Count(record::Outcome::kFail), 1);
  for (auto& [key, record] : trial.raw.records) {
    if (record.result.outcome == record::Outcome::kUnsupported) {
      record.result.reason_code = record::kUndecided;
    }
  }
  const Verdicts verdicts = trial.Judge();
  EXPECT_EQ(verdicts.Count(record::Outcome::kUnsupported), 1);
  EXPECT_EQ(verdicts.conformance[0].verdict, "conformant");
  EXPECT_EQ(verdicts.conformance[0].n_claimed, 1);
}

// Kills: the second verdict in the place of the first.
TEST(VerdictTest, ASecondVerdictForACaseIsDataLoss) {
  const file::ScratchFolder folder;
  const auto file = folder.path() / "a.journal";
  journal::Journal journal = Got(journal::Journal::Open(file, "plan"));
  record::Record record;
  record.result.test_id = "node/Abs/a";
  record.result.backend = "acme";
  record::BackendRow backend;
  backend.backend = "acme";
  backend.version = "3";
  ASSERT_TRUE(journal.Append(backend).ok());
  ASSERT_TRUE(journal.Append(record).ok());
  RawRecords raw;
  ASSERT_TRUE(Collect(file, "plan", &raw).ok());
  EXPECT_EQ(raw.records.count({"acme", "node/Abs/a"}), 1U);
  EXPECT_EQ(raw.backends["acme"].version, "3");
  const Status status = Collect(file, "plan", &raw);
  EXPECT_THAT(status, IsStatus(StatusCode::kDataLoss, file.string()));
  EXPECT_THAT(status.message(), HasSubstr("node/Abs/a on acme"));
}

}  // namespace
}  // namespace assay::verdict
