// SPDX-License-Identifier: Apache-2.0
//
// The suites that write answers and outputs, on a backend that gives y = x.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/file/file.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/suite/suites_fixture.h"
#include "framework/testing/suite/unjudged_suites.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::suite {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

/// The run of a suite whose judgement does not count.
measure::Judgement Pass(const record::PlanRow&, Backend&,
                        const record::RunFacts&, record::Record*) {
  return {record::Outcome::kPass, Reason::kNone, ""};
}

std::vector<cases::TestCase> NoCases(std::span<const cases::Corpus>) {
  return {};
}

TEST(SuiteTest, ASuiteIsFoundByItsName) {
  const bool added = AddSuite({.name = "found", .run = &Pass});
  EXPECT_TRUE(added) << "a static initialiser keeps it";
  ASSERT_NE(FindSuite("found"), nullptr);
  EXPECT_EQ(FindSuite("found")->name, "found");
  EXPECT_EQ(FindSuite("foun"), nullptr);
  record::PlanRow row;
  row.suite = "found";
  EXPECT_EQ(SuiteOf(row), nullptr) << "it has no cases";
}

TEST_F(SuitesTest, AResultHasTheTimesOfItsAnswers) {
  const record::ResultRow& result = record_.result;
  const auto is_time = [](record::Integer us) {
    return us >= 0 && us < record::SteadyMicroseconds();
  };
  Run(AnswersSuite(), CaseOf({kRight, kRight}));
  EXPECT_TRUE(is_time(result.load_us) && is_time(result.run_us));
  Run(AnswersSuite(), CaseOf({kRight, kRight}), {.slow = true});
  EXPECT_GE(result.run_us, 2000) << "each set was asked about";
  Run(AnswersSuite(), CaseOf({kRight}), {.forward = Internal("broken")});
  EXPECT_EQ(result.run_us, 0) << "nothing was answered";
}

// Kills: a run for each question; files in place of what the suite says.
TEST_F(SuitesTest, QuestionsShareARunOfTheSubject) {
  const auto ask =
      [](ExactRun&,
         const Subject& subject) -> Result<std::vector<measure::ExactAnswer>> {
    EXPECT_EQ(subject.targets, std::vector<std::string>{"x"});
    return std::vector<measure::ExactAnswer>();
  };
  static std::vector<Question>* questions = nullptr;
  std::vector<Question> asked = {{"a", ask}, {"b", ask}};
  questions = &asked;
  AddSuite({.name = "asking",
            .cases = &NoCases,
            .subject = [](const record::PlanRow& row,
                          const record::RunFacts&) -> Result<Subject> {
              ASSAY_ASSIGN_OR_RETURN(cases::CaseData data, DataOf(row));
              return Subject{data.model, {data.sets[0].inputs}, {"x"}};
            },
            .ask = [](const record::PlanRow&,
                      const record::RunFacts&) { return *questions; },
            .run = &Pass});
  record::PlanRow row = CaseOf({kRight});
  row.suite = "asking";
  Copying::recorded = 0;
  EXPECT_EQ(Run(AnswersSuite(), row).outcome, record::Outcome::kPass);
  EXPECT_EQ(Copying::recorded, 1);
  const auto answers =
      Got(measure::ReadAnswers(measure::AnswersFile(row.oracle, 0)));
  EXPECT_EQ(answers.size(), 2U);
}

// Kills: a first answer that is taken as it is; one that is lost where the
// oracle has no better; one in a precision that is not worth it.
TEST_F(SuitesTest, WhatIsNotKnownWellIsAskedForInMorePrecision) {
  const struct {
    Fault fault;
    double bound;
  } rows[] = {
      {{.exact_from = Precision::kDouble}, 0},
      {{.exact_from = Precision::kQuad}, 0},
      {{.exact_from = Precision::kArbitrary}, 0},
      {{.exact_from = Precision::kArbitrary, .no_arbitrary = true}, 1},
      {{.least = Precision::kQuad}, 0},
      {{.exact_from = Precision::kArbitrary, .least = Precision::kQuad}, 0},
  };
  for (const auto& one : rows) {
    const record::PlanRow row = CaseOf({kRight});
    EXPECT_EQ(Run(AnswersSuite(), row, one.fault).outcome,
              record::Outcome::kPass);
    const auto answers =
        Got(measure::ReadAnswers(measure::AnswersFile(row.oracle, 0)));
    EXPECT_EQ(answers.at("evaluate from double")[0].bound.elements<double>()[0],
              one.bound);
  }
}

TEST_F(SuitesTest, OutputsAreWrittenUnderTheirCase) {
  const measure::Judgement verdict =
      Run(OutputsSuite(), CaseOf({kOff, kRight}));
  EXPECT_EQ(verdict.outcome, record::Outcome::kPass) << verdict.message;
  for (const char* set : {"test_data_set_0", "test_data_set_1"}) {
    const fs::path folder = facts_.output / "node/Identity/a" / set;
    EXPECT_EQ(*file::ReadFile(folder / "output_0.pb"),
              *graph::SerializeValue(Floats({1, 2}), "y"));
  }
}

// Kills: outputs in the place of what a suite shows; a status that is lost.
TEST_F(SuitesTest, ASuiteMayShowMoreThanOutputs) {
  static Status status = OkStatus();
  AddSuite({.name = "showing",
            .cases = &NoCases,
            .run = &Pass,
            .evidence = {.write = [](const record::PlanRow&, Backend&,
                                     const record::RunFacts&,
                                     const fs::path& folder) {
              static_cast<void>(file::MakeDirectory(folder));
              static_cast<void>(file::WriteFile(folder / "shown", "x"));
              return status;
            }}});
  record::PlanRow row = CaseOf({kRight});
  row.suite = "showing";
  EXPECT_EQ(Run(OutputsSuite(), row).outcome, record::Outcome::kPass);
  EXPECT_TRUE(fs::exists(facts_.output / row.test_id / "shown"));
  EXPECT_FALSE(fs::exists(facts_.output / row.test_id / "test_data_set_0"));
  status = Unsupported(Reason::kGradient, "no");
  EXPECT_EQ(Run(OutputsSuite(), row).outcome, record::Outcome::kUnsupported);
}

// Kills: a status that passes, or that is told as another.
TEST_F(SuitesTest, ACaseThatIsNotRunSaysWhy) {
  const Suite answers = AnswersSuite();
  const Suite outputs = OutputsSuite();
  const Fault declines = {.load = Unsupported(Reason::kLimit, "no")};
  const Fault away = {.load = Unavailable("no device")};
  const Fault broken = {.load = Internal("broken")};
  const char* const expected = "test_data_set_0/output_0.pb";
  const struct {
    const Suite& suite;
    const char* lacks;  // a file of the case
    Fault fault;
    const char* told;
  } rows[] = {
      {answers, "model.onnx", {}, "error : "},
      {outputs, "model.onnx", {}, "error reader: "},
      {answers, expected, {}, "pass : "},
      {outputs, expected, {}, "pass : "},
      {answers, "", declines, "unsupported limit: no"},
      {outputs, "", declines, "unsupported limit: no"},
      {answers, "", away, "unavailable device: no device"},
      {answers, "", broken, "error : broken"},
      {outputs, "", broken, "error : load: internal: broken"},
      {answers, "", {.no_exact = true}, "unsupported : copy offers no exact"},
      {answers, "", {.no_network = true}, "unsupported : copy offers no exact"},
  };
  const auto told = [&](const Suite& suite, const record::PlanRow& row,
                        Fault fault) {
    const measure::Judgement verdict = Run(suite, row, std::move(fault));
    return StrCat(ToString(verdict.outcome), " ", verdict.reason.text(), ": ",
                  verdict.message);
  };
  for (const auto& row : rows) {
    const record::PlanRow plan = CaseOf({kRight});
    if (*row.lacks != '\0') fs::remove(folder_.path() / row.lacks);
    EXPECT_THAT(told(row.suite, plan, row.fault), StartsWith(row.told));
  }
  record::PlanRow row = CaseOf({kRight});
  row.oracle = facts_.output = folder_.Write("file", "");
  EXPECT_THAT(told(answers, row, {}), StartsWith("error limit: "));
  EXPECT_THAT(told(outputs, row, {}), StartsWith("error limit: "));
  row.directory.clear();
  EXPECT_THAT(told(answers, row, {}), StartsWith("unsupported reader: "));
}

}  // namespace
}  // namespace assay::suite
