// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"

namespace assay::verdict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ConformanceCase {
  std::string outcome;  // the final one
  bool claimed = true;
  bool vacuous = false;
  int64_t distinct_results = 1;
  std::string comparator = "tolerance";
  bool drawn = true;
};

using ConformanceCases = std::vector<ConformanceCase>;

/// A run of everything on backend acme; case i is node/Abs/<letter>.
struct ConformanceTrial {
  plan::Plan plan;
  std::vector<record::Record> final;
  std::vector<Unexpected> unexpected;
  bool complete = true;
  MutantKills kills = {
      .not_assessed = "", .total = 2, .tried = 2, .backend_killed = 2};

  Conformance Word() const {
    return ConformanceOf(plan, plan.backends[0],
                         {final, unexpected, kills, complete});
  }
};

ConformanceTrial ConformanceTrialOf(const ConformanceCases& cases) {
  ConformanceTrial trial;
  plan::BackendUse& acme = trial.plan.backends.emplace_back();
  acme.instance = "acme";
  acme.claims = {"claim forward where op:Abs"};
  for (const std::string_view name : cases::kDefaultCorpora) {
    plan::CorpusUse& corpus = trial.plan.corpora.emplace_back();
    corpus.name = name;
    corpus.standard = true;
  }
  char letter = 'a';
  for (const ConformanceCase& c : cases) {
    record::PlanRow& row = trial.plan.rows.emplace_back();
    row.test_id = StrCat("node/Abs/", letter++);
    row.backend = "acme";
    row.domain = "ai.onnx";
    row.op = "Abs";
    row.claimed = c.claimed;
    row.drawn = c.drawn;
    record::Record& record = trial.final.emplace_back();
    record.result.test_id = row.test_id;
    record.result.backend = "acme";
    record.result.op = "Abs";
    record.result.outcome = *record::ParseOutcome(c.outcome);
    record.result.vacuous = c.vacuous;
    record::AccuracyRow accuracy;
    accuracy.distinct_results = c.distinct_results;
    accuracy.comparator = *record::ParseComparator(c.comparator);
    record.Add(accuracy);
  }
  return trial;
}

// Kills: a library of ranks that is asked for networks, and one that is
// conformant without its own corpus.
TEST(ConformanceTest, EachKindOfBackendIsAskedForItsOwnCorpora) {
  ConformanceTrial trial =
      ConformanceTrialOf({{.outcome = "pass", .claimed = true}});
  trial.plan.backends[0].launch.transport = "threads";
  EXPECT_EQ(trial.Word().verdict, "partial");
  EXPECT_TRUE(trial.plan.Partial());
  trial.plan.corpora.clear();
  plan::CorpusUse& corpus = trial.plan.corpora.emplace_back();
  corpus.name = "distributed";
  corpus.standard = true;
  EXPECT_NE(trial.Word().verdict, "partial") << trial.Word().reason;
  EXPECT_FALSE(trial.plan.Partial());
}

// Kills: any outcome but pass and waived let through inside the claims; what
// is outside them decides; a word over nothing, or over vacuous passes alone.
TEST(ConformanceTest, TheWordIsOverTheCasesInsideTheClaims) {
  const struct {
    ConformanceCases cases;
    std::string verdict;
    std::string reason;  // a part of it
  } rows[] = {
      {ConformanceCases{{"pass"}, {"pass"}}, "conformant",
       "all 2 cases inside its claims pass, of 2 planned, of 1 operator; the "
       "inputs of 2 were drawn with seed 0; mutants"},
      {ConformanceCases{{"pass"}, {"fail", false}, {"crash", false}},
       "conformant", "all 1 cases inside its claims pass, of 3 planned"},
      {ConformanceCases{{"pass"}, {"waived"}, {"waived"}},
       "conformant with waivers",
       "of 3 planned, of 1 operator, 2 of them waived"},
      {ConformanceCases{{"pass"}, {"waived"}}, "conformant with waivers",
       "of 2 planned, of 1 operator, 1 of them waived"},
      {ConformanceCases{{"pass"}, {"waived", false}}, "conformant",
       "of 2 planned, of 1 operator; the inputs of 1 were drawn"},
      {ConformanceCases{{"pass"}, {"fail"}}, "not conformant",
       "do not pass: fail 1"},
      {ConformanceCases{{"pass"}, {"suspect"}}, "not conformant", "suspect 1"},
      {ConformanceCases{{"pass"}, {"unsupported"}}, "not conformant",
       "unsupported 1"},
      {ConformanceCases{{"pass"}, {"unavailable"}}, "not conformant",
       "unavailable 1"},
      {{{"pass"}, {"xfail"}, {"xpass"}}, "not conformant", "xfail 1, xpass 1"},
      {ConformanceCases{{"pass"}, {"flaky"}}, "not conformant", "flaky 1"},
      {ConformanceCases{{"pass"}, {"error"}}, "not conformant", "error 1"},
      {ConformanceCases{{"pass"}, {"crash"}}, "not conformant", "crash 1"},
      {ConformanceCases{{"pass"}, {"timeout"}}, "not conformant", "timeout 1"},
      {ConformanceCases{{"pass"}, {"missing"}}, "not conformant", "missing 1"},
      {ConformanceCases{{"pass", false}}, "not conformant",
       "cover none of 1 cases"},
      {ConformanceCases{{"pass", true, true}, {"pass"}}, "conformant",
       "all 2 cases"},
      {ConformanceCases{{"pass", true, true}}, "not conformant", "are vacuous"},
  };
  for (const auto& row : rows) {
    const Conformance word = ConformanceTrialOf(row.cases).Word();
    EXPECT_EQ(word.verdict, row.verdict) << row.reason;
    EXPECT_THAT(word.reason, HasSubstr(row.reason));
  }
}

// Kills: a word over cases whose answers all lie beside their models.
TEST(ConformanceTest, SomeInputsAreDrawnForTheRun) {
  const ConformanceCase known = {.outcome = "pass", .drawn = false};
  EXPECT_EQ(ConformanceTrialOf({known, {"pass"}}).Word().verdict, "conformant");
  for (const ConformanceCase& second :
       {known, ConformanceCase{"pass", false}}) {
    const Conformance word = ConformanceTrialOf({known, second}).Word();
    EXPECT_EQ(word.verdict, "not conformant");
    EXPECT_THAT(word.reason,
                HasSubstr("cases inside its claims has inputs that are drawn"));
  }
}

// Kills: a pass of which another seed makes a fail, taken for a promise kept; a
// line about cases outside of the claims that takes the word away.
TEST(ConformanceTest, NoSeedMakesACaseConformantByLuck) {
  const struct {
    ConformanceCase second;
    std::string verdict;
    std::string reason;  // a part of it
  } rows[] = {
      {ConformanceCase{"pass"}, "not conformant",
       "1 of 2 cases inside its claims pass at this seed and fail at others, "
       "first node/Abs/b (expectations.txt:7: rounded twice)"},
      {{"waived"}, "not conformant", "pass at this seed and fail at others"},
      {{"xfail"}, "not conformant", "do not pass: xfail 1"},
      {{"pass", false}, "conformant", "all 1 cases inside its claims pass"},
  };
  for (const auto& row : rows) {
    ConformanceTrial trial = ConformanceTrialOf({{"pass"}, row.second});
    record::PlanRow& planned = trial.plan.rows[1];
    planned.expected = record::Outcome::kFail;
    planned.expected_at_some_seeds = true;
    planned.expected_source = "expectations.txt:7";
    planned.because = "rounded twice";
    const Conformance word = trial.Word();
    EXPECT_EQ(word.verdict, row.verdict) << row.reason;
    EXPECT_THAT(word.reason, HasSubstr(row.reason));
  }
}

// Kills: a word beside a lost floor, or a crash outside of the claims.
TEST(ConformanceTest, WhatIsUnexpectedElsewhereTakesTheWordAway) {
  ConformanceTrial trial = ConformanceTrialOf({{"pass"}, {"crash", false}});
  trial.unexpected = {{"other", "node/Abs/b", "crash", "SIGSEGV"}};
  EXPECT_EQ(trial.Word().verdict, "conformant");
  trial.unexpected.push_back({"acme", "node/Abs/b", "crash", "SIGSEGV"});
  trial.unexpected.push_back({"acme", "", "lost", "passing.txt:3"});
  EXPECT_EQ(trial.Word().verdict, "not conformant");
  EXPECT_EQ(trial.Word().reason,
            "2 results beside its claims unexpected, first node/Abs/b crash: "
            "SIGSEGV");
}

// Kills: cases of whole models, and of code, counted as operators.
TEST(ConformanceTest, TheShareIsOfCasesAndOperators) {
  ConformanceTrial trial =
      ConformanceTrialOf({{"pass"}, {"pass"}, {"pass"}, {"pass"}});
  const std::pair<const char*, const char*> ops[] = {
      {"ai.onnx", "Conv"},
      {"ai.onnx.ml", "ml.Scaler"},
      {"ai.onnx", "light"},
      {"ai.onnx", "Conv"}};
  for (size_t i = 0; i < std::size(ops); ++i) {
    trial.plan.rows[i].domain = ops[i].first;
    trial.plan.rows[i].op = trial.final[i].result.op = ops[i].second;
  }
  EXPECT_THAT(trial.Word().reason,
              HasSubstr("all 4 cases inside its claims pass, of 4 planned, of "
                        "2 operators; the inputs of 4 were drawn"));
  for (record::PlanRow& row : trial.plan.rows) row.domain = "assay.dist";
  EXPECT_THAT(trial.Word().reason,
              HasSubstr("inside its claims pass, of 4 planned; the inputs"));
}

TEST(ConformanceTest, WithoutClaimsNothingIsConformant) {
  ConformanceTrial trial = ConformanceTrialOf({{"pass"}});
  trial.plan.backends[0].claims.clear();
  EXPECT_EQ(trial.Word().verdict, "not conformant");
  EXPECT_EQ(trial.Word().reason, "it claims nothing");
}

TEST(ConformanceTest, WaiversInsideTheClaimsAreListed) {
  const Conformance word =
      ConformanceTrialOf({{"waived"}, {"pass"}, {"waived", false}, {"waived"}})
          .Word();
  EXPECT_THAT(word.waived, ElementsAre("node/Abs/a", "node/Abs/d"));
  EXPECT_EQ(word.n_claimed, 3);
  EXPECT_EQ(word.n_planned, 4);
}

// Kills: another backend's cases held against this one.
TEST(ConformanceTest, OtherBackendsDecideNothing) {
  ConformanceTrial trial =
      ConformanceTrialOf({{"pass"}, {"fail", true, false, 2}});
  trial.plan.backends[0].claims.push_back("claim deterministic run-to-run");
  trial.plan.rows[1].backend = trial.final[1].result.backend = "other";
  trial.plan.rows[1].test_id = trial.final[1].result.test_id = "node/Abs/a";
  EXPECT_EQ(trial.Word().verdict, "conformant");
  EXPECT_EQ(trial.Word().n_claimed, 1);
  EXPECT_EQ(trial.Word().n_planned, 1);
}

// Kills: a run of a part of the plan called conformant, or called by another
// reason than what it left out.
TEST(ConformanceTest, ARunThatLeftSomethingOutIsPartial) {
  const struct {
    void (*change)(ConformanceTrial&);
    const char* reason;
  } rows[] = {
      {[](ConformanceTrial& t) { t.plan.selection.filter = "op:Abs"; },
       "with a filter"},
      {[](ConformanceTrial& t) { t.plan.selection.suites = {"node"}; },
       "of some suites"},
      {[](ConformanceTrial& t) { t.plan.selection.tier = "smoke"; },
       "of tier smoke"},
      {[](ConformanceTrial& t) { t.plan.corpora.pop_back(); },
       "without the corpus "},
      {[](ConformanceTrial& t) { t.plan.corpora.clear(); },
       "without the corpora onnx, "},
      {[](ConformanceTrial& t) { t.plan.corpora[0].standard = false; },
       "with another corpus onnx than this build made"},
      {[](ConformanceTrial& t) { t.complete = false; }, "unfinished"},
  };
  for (const auto& row : rows) {
    ConformanceTrial trial = ConformanceTrialOf({{"pass"}});
    row.change(trial);
    EXPECT_EQ(trial.Word().verdict, "partial") << row.reason;
    EXPECT_THAT(trial.Word().reason, HasSubstr(row.reason));
  }
}

// Kills: a claim of determinism that nothing is held against; results that
// differ by intent, or where nothing is claimed of them.
TEST(ConformanceTest, WhatIsClaimedDeterministicGivesOneResult) {
  const std::string claim = "claim deterministic run-to-run";
  const struct {
    ConformanceCase c;
    std::string claim, verdict;
  } rows[] = {
      {{"pass", false, false, 2}, claim, "not conformant"},
      {{"pass", false, false, 1}, claim, "conformant"},
      {{"pass", false, false, 2}, "claim forward where op:Abs", "conformant"},
      {{"pass", false, false, 2, "distribution"}, claim, "conformant"},
  };
  for (const auto& row : rows) {
    ConformanceTrial trial = ConformanceTrialOf({{"pass"}, row.c});
    trial.plan.backends[0].claims.push_back(row.claim);
    EXPECT_EQ(trial.Word().verdict, row.verdict) << row.claim;
  }
}

// Kills: survivors passed over; a harness that was never assessed, kept silent
// about.
TEST(ConformanceTest, TheHarnessMustSeeEveryMutant) {
  ConformanceTrial trial = ConformanceTrialOf({{"pass"}});
  EXPECT_THAT(trial.Word().reason, HasSubstr("mutants: 2 of 2 killed"));
  trial.kills.survivors = {"wrong_axis"};
  trial.kills.total = 3;
  EXPECT_EQ(trial.Word().verdict, "not conformant");
  EXPECT_THAT(trial.Word().reason, HasSubstr("not killed: wrong_axis"));
  trial.kills = MutantKills();
  EXPECT_EQ(trial.Word().verdict, "conformant");
  EXPECT_THAT(trial.Word().reason,
              HasSubstr("the harness is not assessed: no mutants.csv"));
}

using testing::EndsWith;

record::MutantRow MutantRowOf(const std::string& name, const std::string& suite,
                              bool killed,
                              const std::string& build_id = "this") {
  record::MutantRow row;
  row.mutant = name;
  row.suite = suite;
  row.killed = killed;
  row.build_id = build_id;
  return row;
}

// Kills: rows counted in the place of mutants; a survivor that one suite of
// several missed; another build's rows, or no row at all, as 100 %; a harness
// that nobody assessed as one without survivors; a sample as the whole list.
TEST(MutantsTableTest, MutantsAreCountedOnceAndOfThisBuild) {
  const struct {
    std::vector<record::MutantRow> rows;
    std::string sentence;
  } cases[] = {
      {{MutantRowOf("a", "node", true), MutantRowOf("b", "harness", true)},
       "2 of 2 killed (1 backend, 1 harness)"},
      {{MutantRowOf("a", "node", true), MutantRowOf("a", "special", false)},
       "1 of 1 killed (1 backend, harness not assessed)"},
      {{MutantRowOf("a", "node", true), MutantRowOf("a", "harness", false)},
       "1 of 2 killed (1 backend, 0 harness); not killed: a"},
      {{MutantRowOf("c", "node", false), MutantRowOf("b", "node", false)},
       "0 of 2 killed (0 backend, harness not assessed); not killed: b, c"},
      {{MutantRowOf("a", "node", true),
        MutantRowOf("b", "node", true, "other")},
       "not assessed: mutants.csv is of another build"},
      {{}, "not assessed: mutants.csv has no mutants"},
      {{MutantRowOf("a", "node", true), MutantRowOf("b", "node", false, ""),
        MutantRowOf("c", "harness", false, "")},
       "sample 1 of 1 killed on this build (1 backend, harness not assessed), "
       "whole list of 3: no green night"},
      {{MutantRowOf("a", "node", false, "")},
       "not assessed: no mutant was tried on this build"},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(CountMutants(row.rows, "this").Sentence(), row.sentence);
  }
}

// Kills: the rate of the whole suites beside a selection that saw none of it;
// mutants of the harness, which no case sees, taken for unseen.
TEST(MutantsTableTest, ASelectionHasTheRateOfItsOwnCases) {
  std::vector<record::MutantRow> rows = {
      MutantRowOf("a", "node", true), MutantRowOf("a", "special", true),
      MutantRowOf("b", "node", true), MutantRowOf("c", "node", false),
      MutantRowOf("a", "harness", true)};
  rows[0].killing_case = "node/Abs/one";
  rows[1].killing_case = "special/Abs/two";
  rows[2].killing_case = "node/Neg/three";
  using Ids = std::set<std::string>;
  const struct {
    Ids ran;
    int64_t killed;
    std::string sentence;
  } cases[] = {
      {Ids{"node/Abs/one", "node/Neg/three"}, 3,
       "3 of 4 killed (2 backend, 1 harness); not killed: c"},
      {Ids{"special/Abs/two"}, 2,
       "at least 2 of 4 killed by the cases of this run (1 backend, 1 "
       "harness); whole suites kill 3; not killed: c"},
      {Ids{"mine/Abs/one"}, 1,
       "at least 1 of 4 killed by the cases of this run (0 backend, 1 "
       "harness); whole suites kill 3; not killed: c"},
  };
  for (const auto& row : cases) {
    const MutantKills kills = CountMutants(rows, "this", &row.ran);
    EXPECT_EQ(kills.Sentence(), row.sentence);
    EXPECT_EQ(kills.killed(), row.killed);
    EXPECT_EQ(kills.killed_by_all(), 3);
  }
}

TEST(MutantsTableTest, ASentenceNamesFiveSurvivors) {
  std::vector<record::MutantRow> rows;
  const auto sentence = [&](std::initializer_list<const char*> more) {
    for (const char* name : more)
      rows.push_back(MutantRowOf(name, "node", false));
    return CountMutants(rows, "this").Sentence();
  };
  EXPECT_THAT(sentence({"a", "b", "c", "d", "e"}),
              EndsWith("not killed: a, b, c, d, e"));
  EXPECT_THAT(sentence({"f", "g"}),
              EndsWith("not killed: a, b, c, d, e and 2 more"));
}

class InstallationTest : public testing::Test {
 protected:
  InstallationTest() {
    for (const char* file : {"bin/assay", "bin/assay-host", "bin/assay-worker",
                             "lib/libassay_core.so"}) {
      folder_.Write(file, file);
    }
  }

  void WriteTable(const std::string& build_id) {
    folder_.Write(
        "share/assay/mutants.csv",
        record::ToCsv(std::vector{MutantRowOf("a", "node", true, build_id)}));
  }

  std::string Read() const { return ReadMutants(folder_.path()).Sentence(); }

  file::ScratchFolder folder_;
};

// Kills: a program of four that the digest leaves out; a table kept for a
// build that was made anew.
TEST_F(InstallationTest, ATableIsOfTheBuildThatItsProgramsAre) {
  const std::string id = *file::BuildId(folder_.path());
  WriteTable(id);
  EXPECT_EQ(Read(), "1 of 1 killed (1 backend, harness not assessed)");
  for (const char* file : {"bin/assay", "bin/assay-host", "bin/assay-worker",
                           "lib/libassay_core.so"}) {
    folder_.Write(file, "made anew");
    EXPECT_EQ(Read(), "not assessed: mutants.csv is of another build") << file;
    folder_.Write(file, file);
    EXPECT_EQ(*file::BuildId(folder_.path()), id);
  }
}

TEST_F(InstallationTest, WithoutASoundTableTheHarnessIsNotAssessed) {
  EXPECT_EQ(Read(), "not assessed: no mutants.csv of this build");
  folder_.Write("share/assay/mutants.csv", "mutant,nonsense\na,b\n");
  EXPECT_THAT(Read(), HasSubstr("not assessed: mutants.csv: "));
  WriteTable("x");
  std::filesystem::remove(folder_.path() / "bin/assay-worker");
  EXPECT_THAT(Read(), HasSubstr("bin/assay-worker"));
}

}  // namespace
}  // namespace assay::verdict
