// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/case_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <stdexcept>
#include <utility>
#include <vector>

#include "framework/testing/support/backends_fixture.h"

namespace assay::worker {
namespace {

using testing::HasSubstr;

record::PlanRow RowOf(const std::string& suite, const std::string& op) {
  record::PlanRow row;
  row.suite = suite;
  row.op = op;
  row.test_id = StrCat(suite, "/", op, "/a");
  return row;
}

/// A suite of one line: the operator of a case says what becomes of it.
measure::Judgement RunToy(const record::PlanRow& row, Backend& backend,
                          const record::RunFacts& facts,
                          record::Record* record) {
  if (row.op == "Throw") throw std::runtime_error("toys do that");
  if (row.op == "Round") std::fesetround(FE_UPWARD);
  if (row.op == "Load") {
    const Status status = backend.Load(nullptr, {}).status();
    return {record::Outcome::kUnsupported, status.reason(), status.message()};
  }
  record::AccuracyRow accuracy;
  accuracy.output_index = facts.seed;
  record->Add(accuracy);
  record->result.placement = "shelf";
  return {record::Outcome::kFail, record::ReasonCode(row.op), "as told"};
}

measure::Judgement RunOther(const record::PlanRow&, Backend&,
                            const record::RunFacts&, record::Record*) {
  return {record::Outcome::kPass, Reason::kNone, ""};
}

/// Ranks of which none runs.
class NoRanks final : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>&) override {
    return std::vector<RankEnd>();
  }
};

/// Keeps the settings that it was asked with.
class Library final : public Communicator {
 public:
  std::string_view name() const override { return "library"; }
  Result<Probe> Inspect() override { return Probe(); }

  Settings asked;

 private:
  std::vector<std::string> setting_names() const override { return {"links"}; }
  Result<Ranks*> RanksWith(const Settings& settings) override {
    asked = settings;
    return &ranks_;
  }

  NoRanks ranks_;
};

/// Passes where ranks have networks.
measure::Judgement RunRanks(const record::PlanRow&, Ranks&, Backend* networks,
                            const record::RunFacts&, record::Record*) {
  return {
      networks != nullptr ? record::Outcome::kPass : record::Outcome::kSuspect,
      Reason::kNone, ""};
}

std::vector<cases::TestCase> NoCases(std::span<const cases::Corpus>) {
  return {};
}

class CaseRunnerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    suite::AddSuite({.name = "toy",
                     .cases = &NoCases,
                     .run = &RunToy,
                     .reasons = {{"bent", "a toy is out of shape"}}});
    suite::AddSuite({.name = "other", .run = &RunOther});
    suite::AddSuite({.name = "cases", .cases = &NoCases});
    suite::AddSuite({.name = std::string(suite::kSuiteOfCorpora),
                     .run = [](const record::PlanRow&, Backend&,
                               const record::RunFacts&, record::Record*) {
                       return measure::Judgement{record::Outcome::kSuspect,
                                                 Reason::kNone, ""};
                     }});
    suite::AddSuite(
        {.name = "ranks", .cases = &NoCases, .run_ranks = &RunRanks});
    suite::AddSuite({.name = "both",
                     .cases = &NoCases,
                     .run = &RunToy,
                     .run_ranks = &RunRanks});
  }

  record::Record Run(const record::PlanRow& row, record::RunFacts facts = {}) {
    CaseRunner runner(opened_, std::move(facts));
    return runner.Run(row);
  }

  /// The module of this test has a communicator, and a backend or none.
  Library& Carry(bool has_backend) {
    auto library = std::make_unique<Library>();
    Library& made = *library;
    opened_.communicator = std::move(library);
    if (!has_backend) opened_.backend.reset();
    return made;
  }

  LoadOptions asked_;
  /// Its backend declines everything, and keeps what it was asked with.
  Opened opened_ = {std::make_unique<StubBackend>(
                        [this](auto, const LoadOptions& options) {
                          asked_ = options;
                          return Unsupported(Reason::kOperator, "no");
                        },
                        "declining"),
                    nullptr};
};

// Kills: a suite that is not asked; one that the facts name passed over; a case
// without a suite, or whose suite runs none, that nobody runs; a corpus that
// takes the name of a suite that judges nothing, and passes.
TEST_F(CaseRunnerTest, ACaseIsRunByItsSuite) {
  const struct {
    const char *suite, *told;
    record::Outcome outcome;
  } rows[] = {{"toy", "", record::Outcome::kFail},
              {"toy", "other", record::Outcome::kPass},
              {"node", "", record::Outcome::kSuspect},
              {"node", "toy", record::Outcome::kFail},
              {"node", "nobody", record::Outcome::kError},
              {"cases", "", record::Outcome::kSuspect},
              {"other", "", record::Outcome::kSuspect}};
  for (const auto& row : rows) {
    record::RunFacts facts;
    facts.suite = row.told;
    EXPECT_EQ(Run(RowOf(row.suite, "bent"), facts).result.outcome, row.outcome)
        << row.suite << " " << row.told;
  }
}

// Kills: a judgement, a column or a row that does not reach the record; columns
// of the plan or of the run that are left empty.
TEST_F(CaseRunnerTest, ARecordHasWhatTheSuiteSays) {
  record::RunFacts facts;
  facts.run_id = "today";
  facts.seed = 7;
  const record::Record record = Run(RowOf("toy", "bent"), facts);
  EXPECT_EQ(record.result.run_id, "today");
  EXPECT_EQ(record.result.test_id, "toy/bent/a");
  EXPECT_EQ(record.result.reason_code, "bent");
  EXPECT_EQ(record.result.message, "as told");
  EXPECT_EQ(record.result.placement, "shelf");
  EXPECT_FALSE(record.result.worker.empty());
  EXPECT_GT(record.result.peak_rss_kb.value_or(0), 0);
  const auto rows = record.Rows<record::AccuracyRow>();
  ASSERT_TRUE(rows.ok() && rows->size() == 1);
  EXPECT_EQ(rows->front().output_index, 7);
  EXPECT_EQ(rows->front().run_id, "today");
}

// Kills: a reason that no page can explain; an exception that ends the worker;
// a changed process that is not seen behind a suite.
TEST_F(CaseRunnerTest, WhatASuiteMayNotDoIsAnError) {
  const struct {
    const char *op, *reason, *message;
  } rows[] = {{"crooked", "reader", "gave the reason 'crooked', which it did"},
              {"Throw", "", "toys do that"},
              {"Round", "state_changed", "the process' rounding mode"}};
  for (const auto& row : rows) {
    const record::ResultRow result = Run(RowOf("toy", row.op)).result;
    EXPECT_EQ(result.outcome, record::Outcome::kError) << row.op;
    EXPECT_EQ(result.reason_code, row.reason);
    EXPECT_THAT(result.message, HasSubstr(row.message));
  }
}

// Kills: a suite that runs the backend as no instance is set.
TEST_F(CaseRunnerTest, SuitesLoadAsTheInstanceIsSet) {
  record::RunFacts facts;
  facts.settings = {{"threads", "2"}};
  const record::ResultRow result = Run(RowOf("toy", "Load"), facts).result;
  EXPECT_EQ(result.reason_code, "operator");
  EXPECT_EQ(asked_.settings, facts.settings);
}

// Kills: settings of networks that reach a library, which has no such; ranks of
// a backend that has none.
TEST_F(CaseRunnerTest, RanksAreOfTheCommunicatorAndNetworksOfTheBackend) {
  const record::PlanRow ranks = RowOf("ranks", "allreduce");
  EXPECT_EQ(Run(ranks).result.message,
            "declining carries no messages between ranks");
  record::RunFacts facts;
  facts.settings = {{"threads", "2"}};
  const Library& carrier = Carry(/*has_backend=*/true);
  EXPECT_EQ(Run(ranks, facts).result.outcome, record::Outcome::kPass);
  EXPECT_EQ(carrier.asked, Settings());
}

// Kills: a suite of both whose models are given to ranks.
TEST_F(CaseRunnerTest, ASuiteOfBothHasRanksForCasesOfRanks) {
  Carry(/*has_backend=*/true);
  record::PlanRow row = RowOf("both", "bent");
  EXPECT_EQ(Run(row).result.outcome, record::Outcome::kFail);
  row.ranks = 2;
  EXPECT_EQ(Run(row).result.outcome, record::Outcome::kPass);
}

TEST_F(CaseRunnerTest, ACommunicatorHasItsSettingsAndRunsNoModel) {
  record::RunFacts facts;
  facts.settings = {{"links", "2"}};
  const Library& library = Carry(/*has_backend=*/false);
  const record::PlanRow ranks = RowOf("ranks", "allreduce");
  EXPECT_EQ(Run(ranks, facts).result.outcome, record::Outcome::kSuspect);
  EXPECT_EQ(library.asked, facts.settings);
  facts.settings = {{"lanes", "2"}};
  const record::ResultRow unknown = Run(ranks, facts).result;
  EXPECT_EQ(unknown.outcome, record::Outcome::kError);
  EXPECT_THAT(unknown.message, HasSubstr("has no setting 'lanes'"));
  const record::ResultRow model = Run(RowOf("toy", "Load")).result;
  EXPECT_EQ(model.outcome, record::Outcome::kUnsupported);
  EXPECT_EQ(model.message,
            "library carries messages between ranks and runs no model");
}

TEST(QuestionsTest, AreThoseOfTheSuiteOrTheUsualOne) {
  suite::AddSuite({.name = "mute", .cases = &NoCases, .run = &RunOther});
  suite::AddSuite(
      {.name = "curious",
       .cases = &NoCases,
       .ask =
           [](const record::PlanRow&, const record::RunFacts& facts) {
             return std::vector<suite::Question>(
                 {{StrCat("vjp ", facts.seed), {}}});
           },
       .run = &RunOther});
  record::PlanRow drawn = RowOf("node", "Bernoulli");
  drawn.comparator = record::Comparator::kDistribution;
  record::PlanRow wide = RowOf("node", "Abs");
  wide.dtypes = "float64";
  const struct {
    record::PlanRow row;
    std::vector<std::string> names;
  } rows[] = {{RowOf("node", "Abs"), {"evaluate from double"}},
              {wide, {"evaluate from quad"}},
              {drawn, {}},
              {RowOf("mute", "Abs"), {}},
              {RowOf("curious", "Abs"), {"vjp 7"}}};
  record::RunFacts facts;
  facts.seed = 7;
  for (const auto& row : rows) {
    std::vector<std::string> names;
    for (const suite::Question& question : suite::QuestionsOf(row.row, facts)) {
      names.push_back(question.name);
    }
    EXPECT_EQ(names, row.names) << row.row.test_id;
  }
}

}  // namespace
}  // namespace assay::worker
