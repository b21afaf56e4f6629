// SPDX-License-Identifier: Apache-2.0
//
// Cases in files, on a backend that gives y = x.

#include "conformance/node/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/suite/suites_fixture.h"
#include "framework/testing/suite/unjudged_suites.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using suite::Fault;
using suite::kDrawn;
using suite::kNear;
using suite::kOff;
using suite::kRight;
using suite::Set;
using testing::HasSubstr;
using testing::StartsWith;

suite::Suite JudgedSuite() { return {.name = "node", .run = &Judge}; }

class NodeTest : public suite::SuitesTest {};

TEST_F(NodeTest, TheVerdictIsThatOfTheLimitInForce) {
  struct Changes {
    record::Number tolerate_rtol = {}, tolerate_atol = {}, rtol = 1e-5,
                   atol = {};
    bool deterministic = false;
  };
  const Set tiny = {{1e-3F, 0}, {1e-9F, 0}};
  const Status broken = Internal("broken");
  const Fault declines = {.load = Unsupported(Reason::kLimit, "no")};
  const struct {
    const char* told;  // outcome, rows, distinct results, limit, message
    std::vector<Set> sets;
    Changes row = {};
    Fault fault = {};
  } rows[] = {
      {"pass 1 1 onnx: ", {kRight}},
      {"fail 1 1 onnx: output y: 1 of 2", {kOff}},
      {"fail 1 1 onnx: output y: 1 of 2", {kOff}, {.rtol = {}}},
      {"fail 2 1 onnx: data set 1: output y: 1 of 2", {kRight, kOff, kRight}},
      {"pass 1 1 line 7: ", {kOff}, {.tolerate_rtol = 0.1}},
      {"fail 1 1 onnx: output y: 1 of 2", {kOff}, {.tolerate_rtol = 1e-3}},
      {"pass 1 1 onnx: ", {kRight}, {.tolerate_rtol = 1}},
      {"suspect 1 1 line 7: the tolerance of line 7 would also take zeros for "
       "right: output y: 1 of 2",
       {kOff},
       {.tolerate_rtol = 0, .tolerate_atol = 3}},
      {"pass 1 1 line 7: ",
       {tiny},
       {.tolerate_rtol = 0, .tolerate_atol = 3, .atol = 1e-8}},
      {"unsupported 0 0 onnx: no", {kRight}, {}, declines},
      {"error 0 0 onnx: forward: internal", {kRight}, {}, {.forward = broken}},
      {"suspect 1 1 onnx: the outputs stay", {kRight}, {}, {.keeps = true}},
      {"pass 1 2 onnx: ", {kRight}, {}, {.drifts = true}},
      {"fail 1 2 onnx: run again: other bits",
       {kRight},
       {.deterministic = true},
       {.drifts = true}},
  };
  for (const auto& row : rows) {
    record::PlanRow plan = CaseOf(row.sets);
    plan.rtol = row.row.rtol;
    plan.atol = row.row.atol;
    plan.tolerate_rtol = row.row.tolerate_rtol;
    plan.tolerate_atol = row.row.tolerate_atol;
    plan.deterministic = row.row.deterministic;
    const measure::Judgement verdict = Run(JudgedSuite(), plan, row.fault);
    const auto measured = Rows();
    const int64_t distinct =
        measured.empty() ? 0 : measured.back().distinct_results.value_or(0);
    EXPECT_THAT(
        StrCat(ToString(verdict.outcome), " ", measured.size(), " ", distinct,
               " ", record_.result.limit_source, ": ", verdict.message),
        StartsWith(row.told));
  }
}

// Kills: a number that does not reach the table, or another in its place.
TEST_F(NodeTest, ARowHasAllThatWasMeasured) {
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
    Run(JudgedSuite(), CaseOf({row.set}, row.op));
    EXPECT_EQ(Table(), row.table);
  }
}

// Kills: draws that are judged as one run is, or run again; a failure of
// another sort that draws are asked about; a limit of time that is not kept.
TEST_F(NodeTest, RandomDrawsAreJudgedByTheirLaw) {
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
    const measure::Judgement verdict = Run(JudgedSuite(), plan, row.fault);
    EXPECT_THAT(StrCat(ToString(verdict.outcome), ": ", verdict.message),
                StartsWith(row.told));
    EXPECT_FALSE(record_.result.headroom.has_value()) << row.told;
  }
  facts_.case_limit_s = 2e-4;  // half of it is for the draws
  EXPECT_THAT(Run(JudgedSuite(), CaseOf({kDrawn}, "Bernoulli"), {}).message,
              HasSubstr(" in 100 us, wanted 10000"));
}

TEST_F(NodeTest, AResultHasTheLeastHeadroomAndTheTimes) {
  const record::ResultRow& result = record_.result;
  const auto is_time = [](record::Integer us) {
    return us >= 0 && us < record::SteadyMicroseconds();
  };
  Run(JudgedSuite(), CaseOf({kNear, kRight}));
  EXPECT_EQ(result.headroom, Rows()[0].headroom);
  EXPECT_EQ(result.placement, "copier");
  EXPECT_TRUE(result.via_function);
  EXPECT_TRUE(is_time(result.load_us) && is_time(result.run_us));
  EXPECT_TRUE(is_time(result.judge_us));
  Run(JudgedSuite(), CaseOf({kRight}), {.load = Internal("broken")});
  EXPECT_TRUE(is_time(result.load_us) && is_time(result.judge_us));
  EXPECT_FALSE(result.run_us.has_value());
}

// Kills: answers that are left out, of another set, or to another question.
TEST_F(NodeTest, AnswersAreWrittenAndMeasuredAgainst) {
  record::PlanRow row = CaseOf({kRight, {{4, 6}, {4, 6}}});
  EXPECT_EQ(Run(suite::AnswersSuite(), row).outcome, record::Outcome::kPass);
  const auto answers =
      Got(measure::ReadAnswers(measure::AnswersFile(row.oracle, 1)));
  const auto& list = answers.at("evaluate from double");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].value.tensor()->elements<double>()[1], 3);
  EXPECT_EQ(list[0].units.elements<double>()[0], 7);
  const auto references = [&](Fault fault = {}) {
    Run(JudgedSuite(), row, std::move(fault));
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
    Run(suite::AnswersSuite(), row, fault);
    const auto without =
        measure::ReadAnswers(measure::AnswersFile(row.oracle, 1));
    EXPECT_FALSE(without->at("evaluate from quad")[0].units.defined());
  }
}

// Kills: a status that passes, or that is told as another.
TEST_F(NodeTest, ACaseThatIsNotReadSaysWhy) {
  const auto told = [&](const record::PlanRow& row) {
    const measure::Judgement verdict = Run(JudgedSuite(), row);
    return StrCat(ToString(verdict.outcome), " ", verdict.reason.text(), ": ",
                  verdict.message);
  };
  for (const char* lacks : {"model.onnx", "test_data_set_0/output_0.pb"}) {
    const record::PlanRow row = CaseOf({kRight});
    fs::remove(folder_.path() / lacks);
    EXPECT_THAT(told(row), StartsWith("error reader: ")) << lacks;
  }
  record::PlanRow row = CaseOf({kRight});
  row.directory.clear();
  EXPECT_THAT(told(row), StartsWith("unsupported reader: "));
}

}  // namespace
}  // namespace assay::node
