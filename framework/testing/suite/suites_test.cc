// SPDX-License-Identifier: Apache-2.0
//
// The suites that write answers and outputs, on a backend that gives y = x.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

TEST(SuiteTest, ASuiteSaysHowItsCasesRun) {
  AddSuite({.name = "asking for all",
            .cases = &NoCases,
            .needs_answers = true,
            .needs_oracle = true,
            .run = &Pass,
            .alone = true});
  AddSuite({.name = "asking for none", .cases = &NoCases, .run = &Pass});
  for (const char* name : {"asking for all", "asking for none", "nobody's"}) {
    record::PlanRow row;
    row.suite = name;
    const bool all = row.suite == "asking for all";
    EXPECT_EQ(NeedsAnswers(row), all) << name;
    EXPECT_EQ(NeedsOracle(row), all) << name;
    EXPECT_EQ(RunsAlone(row), all) << name;
  }
}

TEST(SuiteTest, AnAnswerThatIsMissingSaysWhy) {
  using record::Outcome;
  const struct {
    const char* folder;
    std::optional<Outcome> outcome;
    StatusCode code;
    const char* says;
  } rows[] = {
      {"answers", std::nullopt, StatusCode::kOk, ""},
      {"", std::nullopt, StatusCode::kNotFound, "was not asked"},
      {"", Outcome::kUnsupported, StatusCode::kUnsupported, "declined: no"},
      {"", Outcome::kCrash, StatusCode::kDataLoss, "ended with crash: no"},
  };
  for (const auto& one : rows) {
    record::PlanRow row;
    row.oracle = one.folder;
    row.oracle_outcome = one.outcome;
    row.oracle_message = "no";
    EXPECT_THAT(CheckAnswered(row, Reason::kLimit),
                IsStatus(one.code, one.says));
  }
}

// Kills: a name that is found where no case has it.
TEST(SuiteTest, ACaseIsFoundByTheNumbersInItsName) {
  Suite suite = {.name = "sized"};
  EXPECT_FALSE(CaseNamed(suite, "sized/A/3").has_value());
  suite.sizing.named = [](std::string_view id) -> std::optional<SizedCase> {
    if (id != "sized/A/3") return std::nullopt;
    SizedCase sized;
    sized.test_case.test_id = id;
    return sized;
  };
  EXPECT_FALSE(CaseNamed(suite, "sized/A/4").has_value());
  EXPECT_EQ(CaseNamed(suite, "sized/A/3").value().test_id, "sized/A/3");
}

/// The row of accuracy of an output, without its key.
std::string RowOf(const measure::OutputMetrics& metrics) {
  record::Record record;
  record.Add(AccuracyRowOf(metrics));
  return record.rows.at(0).fields;
}

// Kills: a number that is lost on its way to the table; numbers of an output
// that has none.
TEST(SuiteTest, ARowHasTheNumbersOfItsOutput) {
  measure::OutputMetrics metrics;
  metrics.output_index = 1;
  metrics.output_name = "y";
  metrics.dtype = "float32";
  metrics.shape = "2x3";
  metrics.n_elem = 6;
  metrics.nan_mismatch = 7;
  metrics.inf_mismatch = 8;
  metrics.out_of_limit = 9;
  metrics.max_abs_err = 0.25;
  metrics.oracle_bound = 0.125;
  metrics.worst_index = 0;
  metrics.worst_want = "-4";
  metrics.worst_got = "3";
  metrics.worst = {{0, "-4", "3"}, {5, "1", "nan"}};
  metrics.error_bins = {1, 2};
  metrics.limit = {record::Comparator::kTolerance, 0.5, 0.75, "onnx"};
  metrics.headroom = -1;
  metrics.sign_of_zero_mismatch = 10;
  metrics.bitwise_equal = true;
  EXPECT_EQ(
      RowOf(metrics),
      "1,y,float32,2x3,6,expected,7,8,9,,,0.25,,,,,,,,,,,,0,-4,3,0.75,0.5,"
      "2.75,onnx,-1,0.125,10,1,,tolerance,,,0:-4:3 5:1:nan,1 2");
  metrics.limit.comparator = record::Comparator::kDistribution;
  metrics.n_draws = 11;
  metrics.p_value = 0.0625;
  metrics.p_limit = 0.03125;
  EXPECT_EQ(RowOf(metrics),
            "1,y,float32,2x3,6,law,7,8,9,,,0.25,,,,,,,,,,,,0,-4,3,0.75,0.5,"
            "0.03125,onnx,-1,0.125,10,1,,distribution,11,0.0625,"
            "0:-4:3 5:1:nan,1 2");
  metrics.limit.comparator = record::Comparator::kTolerance;
  metrics.worst_want = "no number";
  metrics.worst_index = -1;
  EXPECT_EQ(RowOf(metrics),
            "1,y,float32,2x3,6,expected,7,8,9,,,0.25,,,,,,,,,,,,,no number,3,"
            "0.75,0.5,,onnx,-1,0.125,10,1,,tolerance,,,0:-4:3 5:1:nan,1 2");
  metrics.mismatch = "found 2x2, wanted 2x3";
  EXPECT_EQ(RowOf(metrics),
            "1,y,float32,2x3,,expected,,,,,,,,,,,,,,,,,,,,,,,,onnx,,,,0,,"
            "tolerance,,,,");
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

TEST_F(SuitesTest, AnEighthOfAnUlpIsEnough) {
  // The backend gives half of x.
  const struct {
    const char* dtypes;
    std::vector<float> x;
    double bound;
    bool enough;
  } rows[] = {
      {"float32", {2, 2}, 0x1p-27, true},
      {"float32", {2, 2}, 0x1.000001p-27, false},
      {"float32", {1, 2}, 0x1p-27, false},
      {"float32", {2, 1}, 0x1p-27, false},
      {"float32", {-2, 2}, 0x1p-27, true},
      {"float32", {0, 0}, 0x1p-152, true},
      {"float32", {0, 0}, 0x1.000001p-152, false},
      {"float32", {kInf, kNan}, 1, true},
      {"float64", {2, 2}, 0x1p-56, true},
      {"float64", {2, 2}, 0x1.000001p-56, false},
      {"float64", {0, 0}, 0x1p-1074, false},
  };
  for (const auto& one : rows) {
    record::PlanRow row = CaseOf({{one.x, one.x}});
    row.dtypes = one.dtypes;
    Run(AnswersSuite(), row,
        {.exact_from = Precision::kArbitrary, .bound = one.bound});
    const auto answers =
        Got(measure::ReadAnswers(measure::AnswersFile(row.oracle, 0)));
    EXPECT_EQ(answers.begin()->second[0].bound.elements<double>()[0],
              one.enough ? one.bound : 0);
  }
}

// Kills: a backend that is asked about the first operator alone; a status that
// is lost.
TEST_F(SuitesTest, InterfacesAreThoseOfTheFirstModelThatLoads) {
  const auto told = [&](Backend& backend) {
    const auto verdict = InterfacesSuite().run({}, backend, facts_, &record_);
    return StrCat(ToString(verdict.outcome), " ", verdict.reason.text(), ": ",
                  verdict.message);
  };
  for (const char* op : {"Relu", "Add", "MatMul", "Conv"}) {
    for (const bool is_exact : {true, false}) {
      StubBackend backend(
          [&](auto model,
              const LoadOptions& options) -> Result<std::unique_ptr<Network>> {
            if (model->graph().nodes[0].op_type != op) {
              return Unsupported(Reason::kOperator, "no other");
            }
            return std::make_unique<Copying>(
                Fault{.no_exact = !is_exact || !options.exact});
          });
      EXPECT_EQ(told(backend), StrCat("pass : placement",
                                      is_exact ? ", exact" : "", "; by ", op));
    }
  }
  const struct {
    Result<std::unique_ptr<Network>> (*load)();
    const char* told;
  } rows[] = {
      {[] {
         return Result<std::unique_ptr<Network>>(
             Unsupported(Reason::kOperator, "none at all"));
       },
       "unsupported operator: none at all"},
      {[] { return Result<std::unique_ptr<Network>>(Internal("broken")); },
       "error : broken"},
      {[] {
         return Result<std::unique_ptr<Network>>(std::unique_ptr<Network>());
       },
       "error : Load gave no network and no error"},
  };
  for (const auto& row : rows) {
    int n_loads = 0;
    StubBackend backend([&](auto, const LoadOptions&) {
      ++n_loads;
      return row.load();
    });
    EXPECT_EQ(told(backend), row.told);
    EXPECT_EQ(n_loads > 1, std::string_view(row.told).starts_with("uns"));
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
