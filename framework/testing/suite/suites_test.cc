// SPDX-License-Identifier: Apache-2.0
//
// The suites of cases with files, on a backend that gives y = x.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/measure/measure_rows_fixture.h"
#include "framework/testing/suite/answers_suite.h"
#include "framework/testing/suite/conformance_suite.h"
#include "framework/testing/suite/copy_backend_fixture.h"
#include "framework/testing/suite/outputs_suite.h"

namespace assay::suite {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

/// What a data set feeds and expects.
struct Set {
  std::vector<float> x, y;
};

const Set kRight = {{1, 2}, {1, 2}};
const Set kNear = {{1, 2}, {1, 2.00001F}};
const Set kOff = {{1, 2}, {1, 2.1F}};
const Set kDrawn = {{1, 0}, {1, 0}};  // as Bernoulli must

class SuitesTest : public testing::Test {
 protected:
  /// A case of y = op(x) under a limit of 1e-5 times what is wanted.
  record::PlanRow CaseOf(const std::vector<Set>& sets,
                         const std::string& op = "Identity") const {
    const auto write = [&](const std::string& file, const Value& value) {
      folder_.Write(file, *graph::SerializeValue(value, ""));
    };
    const auto size = sets[0].x.size();
    const auto model =
        graph::ModelOfText(StrCat("g (float[", size, "] x) => (float[", size,
                                  "] y) { y = ", op, "(x) }"));
    folder_.Write("model.onnx",
                  {reinterpret_cast<const char*>(model->bytes().data()),
                   model->bytes().size()});
    for (size_t i = 0; i < sets.size(); ++i) {
      const std::string set = StrCat("test_data_set_", i);
      write(set + "/input_0.pb", Floats(sets[i].x));
      write(set + "/output_0.pb", Floats(sets[i].y));
    }
    record::PlanRow row;
    row.oracle = (folder_.path() / "answers").string();
    row.sensitive = {0};
    row.test_id = "node/Identity/a";
    row.suite = "node";
    row.directory = folder_.path().string();
    row.n_data_sets = std::ssize(sets);
    row.rtol = 1e-5;
    row.limit_source = "onnx";
    if (op == "Bernoulli") row.comparator = record::Comparator::kDistribution;
    row.tolerate_source = "line 7";
    return row;
  }

  measure::Judgement Run(const Suite& suite, const record::PlanRow& row,
                         Fault fault = {}) {
    CopyBackend backend(std::move(fault));
    record_ = record::Record{record::ResultOf(row, facts_)};
    return suite.run(row, backend, facts_, &record_);
  }
  std::vector<record::AccuracyRow> Rows() const {
    return *record_.Rows<record::AccuracyRow>();
  }
  /// The accuracy of the last run as its table has it, without the key.
  std::string Table() const {
    std::string text;
    for (const record::RecordRow& row : record_.rows) text += row.fields + "\n";
    return text;
  }

  const file::ScratchFolder folder_;
  record::RunFacts facts_ = {.output = folder_.path() / "out"};
  record::Record record_;
};

TEST_F(SuitesTest, TheVerdictIsThatOfTheLimitInForce) {
  struct Changes {
    record::Number tolerate_rtol = {}, tolerate_atol = {}, rtol = 1e-5,
                   atol = {};
    bool deterministic = false;
  };
  const Set tiny = {{1e-3F, 0}, {1e-9F, 0}};
  const Status broken = Internal("broken");
  const Fault declines = {.load = Unsupported(Reason::kLimit, "no")};
  const struct {
    std::vector<Set> sets;
    Fault fault;
    Changes row;
    const char* told;  // outcome, rows, distinct results, limit, message
  } rows[] = {
      {{kRight}, {}, {}, "pass 1 1 onnx: "},
      {{kOff}, {}, {}, "fail 1 1 onnx: output y: 1 of 2"},
      {{kOff}, {}, {.rtol = {}}, "fail 1 1 onnx: output y: 1 of 2"},
      {{kRight, kOff, kRight},
       {},
       {},
       "fail 2 1 onnx: data set 1: output y: 1 of 2"},
      {{kOff}, {}, {.tolerate_rtol = 0.1}, "pass 1 1 line 7: "},
      {{kOff}, {}, {.tolerate_rtol = 1e-3}, "fail 1 1 onnx: output y: 1 of 2"},
      {{kRight}, {}, {.tolerate_rtol = 1}, "pass 1 1 onnx: "},
      {{kOff},
       {},
       {.tolerate_rtol = 0, .tolerate_atol = 3},
       "suspect 1 1 line 7: the tolerance of line 7 would also take zeros for "
       "right: output y: 1 of 2"},
      {{tiny},
       {},
       {.tolerate_rtol = 0, .tolerate_atol = 3, .atol = 1e-8},
       "pass 1 1 line 7: "},
      {{kRight}, declines, {}, "unsupported 0 0 onnx: no"},
      {{kRight}, {.forward = broken}, {}, "error 0 0 onnx: forward: internal"},
      {{kRight}, {.keeps = true}, {}, "suspect 1 1 onnx: the outputs stay"},
      {{kRight}, {.drifts = true}, {}, "pass 1 2 onnx: "},
      {{kRight},
       {.drifts = true},
       {.deterministic = true},
       "fail 1 2 onnx: run again: other bits"},
  };
  for (const auto& row : rows) {
    record::PlanRow plan = CaseOf(row.sets);
    plan.rtol = row.row.rtol;
    plan.atol = row.row.atol;
    plan.tolerate_rtol = row.row.tolerate_rtol;
    plan.tolerate_atol = row.row.tolerate_atol;
    plan.deterministic = row.row.deterministic;
    const measure::Judgement verdict = Run(ConformanceSuite(), plan, row.fault);
    const auto measured = Rows();
    const int64_t distinct =
        measured.empty() ? 0 : measured.back().distinct_results.value_or(0);
    EXPECT_THAT(
        StrCat(ToString(verdict.outcome), " ", measured.size(), " ", distinct,
               " ", record_.result.limit_source, ": ", verdict.message),
        StartsWith(row.told));
  }
}

TEST(SuiteTest, ASuiteIsFoundByItsName) {
  const bool added = AddSuite({.name = "found", .run = ConformanceSuite().run});
  EXPECT_TRUE(added) << "a static initialiser keeps it";
  ASSERT_NE(FindSuite("found"), nullptr);
  EXPECT_EQ(FindSuite("found")->name, "found");
  EXPECT_EQ(FindSuite("foun"), nullptr);
  record::PlanRow row;
  row.suite = "found";
  EXPECT_EQ(SuiteOf(row), nullptr) << "it has no cases";
}

// Kills: a number that does not reach the table, or another in its place.
TEST_F(SuitesTest, ARowHasAllThatWasMeasured) {
  const struct {
    const char* op;
    Set set;
    const char* table;
  } rows[] = {
      {"Identity", kNear,
       "0,y,float32,[2],2,expected,0,0,0,-1.0013580322265625e-05,0,"
       "1.0013580322265625e-05,5.006765093310604e-06,42,0,42,42,-21,0.5,,"
       "7.080670549830197e-06,4.478191322647654e-06,0.9999999999979945,1,"
       "2.00001,2,0,1e-05,2.0000100000000002e-05,onnx,0.4993234757331195,,0,0,"
       "1,tolerance,,,,\n"},
      {"Identity", Set{{1, 3}, {1, 2}},
       "0,y,float32,[2],2,expected,0,0,1,0,1,1,0.5,4194304,0,4194304,4194304,"
       "2097152,0.5,,0.7071067811865476,0.4472135954999579,0.9899494936611664,"
       "1,2,3,0,1e-05,2e-05,onnx,-49999.00126310627,,0,0,1,tolerance,,,1:2:3,"
       "1 0 0 0 0 0 0 0 0 0 1\n"},
      {"Identity", Set{{1, 2}, {1}},
       "0,y,float32,[2],,expected,,,,,,,,,,,,,,,,,,,,,,,,onnx,,,,0,1,tolerance,"
       ",,,\n"},
      {"Bernoulli", kDrawn,
       "0,y,float32,[2],2,law,0,0,0,,,,,,,,,,,,,,,0,1,1,0,1e-05,1e-06,onnx,1,,"
       "0,0,1,distribution,10000,1,,\n"},
  };
  for (const auto& row : rows) {
    Run(ConformanceSuite(), CaseOf({row.set}, row.op));
    EXPECT_EQ(Table(), row.table);
  }
}

// Kills: draws that are judged as one run is, or run again; a failure of
// another sort that draws are asked about; a limit of time that is not kept.
TEST_F(SuitesTest, RandomDrawsAreJudgedByTheirLaw) {
  const struct {
    Set set;
    Fault fault;
    double case_limit_s;
    const char* told;
  } rows[] = {
      {kDrawn, {.keeps = true}, 120, "pass: "},
      {kDrawn, {}, 0, "pass: "},
      {kDrawn, {}, 1e-9, "error: found time for"},
      {{{0.5, 0}, {1, 0}}, {}, 120, "fail: output y: draw 0: at 0 got 0.5"},
      {{{1, 0}, {1}}, {}, 120, "fail: output y: found float32[2]"},
      {kDrawn, {.load = Internal("broken")}, 120, "error: load: internal"},
  };
  for (const auto& row : rows) {
    facts_.case_limit_s = row.case_limit_s;
    const record::PlanRow plan = CaseOf({row.set}, "Bernoulli");
    const measure::Judgement verdict = Run(ConformanceSuite(), plan, row.fault);
    EXPECT_THAT(StrCat(ToString(verdict.outcome), ": ", verdict.message),
                StartsWith(row.told));
    EXPECT_FALSE(record_.result.headroom.has_value()) << row.told;
  }
  facts_.case_limit_s = 2e-4;  // half of it is for the draws
  EXPECT_THAT(
      Run(ConformanceSuite(), CaseOf({kDrawn}, "Bernoulli"), {}).message,
      HasSubstr(" in 100 us, wanted 10000"));
}

TEST_F(SuitesTest, AResultHasTheLeastHeadroomAndTheTimes) {
  const record::ResultRow& result = record_.result;
  const auto is_time = [](record::Integer us) {
    return us >= 0 && us < record::SteadyMicroseconds();
  };
  Run(ConformanceSuite(), CaseOf({kNear, kRight}));
  EXPECT_EQ(result.headroom, Rows()[0].headroom);
  EXPECT_EQ(result.placement, "copier");
  EXPECT_TRUE(result.via_function);
  EXPECT_TRUE(is_time(result.load_us) && is_time(result.run_us));
  EXPECT_TRUE(is_time(result.judge_us));
  Run(ConformanceSuite(), CaseOf({kRight}), {.load = Internal("broken")});
  EXPECT_TRUE(is_time(result.load_us) && is_time(result.judge_us));
  EXPECT_FALSE(result.run_us.has_value());
  Run(AnswersSuite(), CaseOf({kRight, kRight}));
  EXPECT_TRUE(is_time(result.load_us) && is_time(result.run_us));
  Run(AnswersSuite(), CaseOf({kRight, kRight}), {.slow = true});
  EXPECT_GE(result.run_us, 2000) << "each set was asked about";
  Run(AnswersSuite(), CaseOf({kRight}), {.forward = Internal("broken")});
  EXPECT_EQ(result.run_us, 0) << "nothing was answered";
}

// Kills: answers that are left out, of another set, or to another question.
TEST_F(SuitesTest, AnswersAreWrittenAndMeasuredAgainst) {
  record::PlanRow row = CaseOf({kRight, {{4, 6}, {4, 6}}});
  EXPECT_EQ(Run(AnswersSuite(), row).outcome, record::Outcome::kPass);
  const auto answers =
      measure::ReadAnswers(measure::AnswersFile(row.oracle, 1));
  ASSERT_TRUE(answers.ok()) << answers.status().ToString();
  const auto& list = answers->at("evaluate from double");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].value.tensor()->elements<double>()[1], 3);
  EXPECT_EQ(list[0].units.elements<double>()[0], 7);
  const auto references = [&](Fault fault = {}) {
    Run(ConformanceSuite(), row, std::move(fault));
    std::string found;
    for (const record::AccuracyRow& one : Rows()) {
      found += StrCat(one.reference, " ", one.worst_want, " ");
    }
    return found;
  };
  EXPECT_EQ(references(),
            "expected  oracle 0.5 expected_oracle 0.5 "
            "expected  oracle 3 expected_oracle 3 ");
  EXPECT_EQ(references({.forward = Internal("broken")}), "");
  fs::remove(measure::AnswersFile(row.oracle, 0));
  EXPECT_EQ(references(), "expected  expected  oracle 3 expected_oracle 3 ");
  row.dtypes = "float64";
  EXPECT_EQ(references(), "expected  expected  ");
  for (const Fault& fault :
       {Fault{.no_units = true}, Fault{.few_units = true}}) {
    Run(AnswersSuite(), row, fault);
    const auto without =
        measure::ReadAnswers(measure::AnswersFile(row.oracle, 1));
    EXPECT_FALSE(without->at("evaluate from quad")[0].units.defined());
  }
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
            .cases =
                [](std::span<const cases::Corpus>) {
                  return std::vector<cases::TestCase>();
                },
            .subject = [](const record::PlanRow& row,
                          const record::RunFacts&) -> Result<Subject> {
              ASSAY_ASSIGN_OR_RETURN(cases::CaseData data, DataOf(row));
              return Subject{data.model, {data.sets[0].inputs}, {"x"}};
            },
            .ask = [](const record::PlanRow&,
                      const record::RunFacts&) { return *questions; },
            .run = ConformanceSuite().run});
  record::PlanRow row = CaseOf({kRight});
  row.suite = "asking";
  Copying::recorded = 0;
  EXPECT_EQ(Run(AnswersSuite(), row).outcome, record::Outcome::kPass);
  EXPECT_EQ(Copying::recorded, 1);
  const auto answers =
      measure::ReadAnswers(measure::AnswersFile(row.oracle, 0));
  ASSERT_TRUE(answers.ok()) << answers.status().ToString();
  EXPECT_EQ(answers->size(), 2U);
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
        measure::ReadAnswers(measure::AnswersFile(row.oracle, 0));
    ASSERT_TRUE(answers.ok()) << answers.status().ToString();
    EXPECT_EQ(
        answers->at("evaluate from double")[0].bound.elements<double>()[0],
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
            .cases =
                [](std::span<const cases::Corpus>) {
                  return std::vector<cases::TestCase>();
                },
            .run = ConformanceSuite().run,
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
  const Suite conform = ConformanceSuite();
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
      {conform, "model.onnx", {}, "error reader: "},
      {answers, "model.onnx", {}, "error : "},
      {outputs, "model.onnx", {}, "error reader: "},
      {conform, expected, {}, "error reader: "},
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
  for (const Suite& suite : {conform, answers}) {
    EXPECT_THAT(told(suite, row, {}), StartsWith("unsupported reader: "));
  }
}

}  // namespace
}  // namespace assay::suite
