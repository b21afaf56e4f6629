// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "conformance/redrawn/judge.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::redrawn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

cases::TestCase CaseOf(const char* suite, const char* op,
                       std::vector<std::string> input_dtypes) {
  cases::TestCase c;
  c.suite = suite;
  c.op = op;
  c.domain = "ai.onnx";
  c.kind = suite;
  c.test_id = StrCat(suite, "/", op, "/test_a");
  c.input_dtypes = std::move(input_dtypes);
  c.n_data_sets = 2;
  c.sensitive = "0";
  return c;
}

std::vector<cases::TestCase> Derived(const cases::TestCase& c) {
  cases::Corpus corpus;
  corpus.cases = {c};
  return RedrawnCases({&corpus, 1});
}

// Kills: a case that claims or a lookup may pass over: of another suite's name,
// not marked, or with data sets that are not drawn.
TEST(RedrawnCases, StandForTheirSourceAtDrawnInputs) {
  const auto cases = Derived(CaseOf("node", "Relu", {"float32"}));
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].test_id, "redrawn/Relu/test_a");
  EXPECT_EQ(cases[0].suite, "redrawn");
  EXPECT_EQ(cases[0].corpus, "redrawn");
  EXPECT_EQ(cases[0].claim, cases::ClaimKind::kForward);
  EXPECT_EQ(cases[0].tier, cases::Tier::kCi);
  EXPECT_EQ(cases[0].n_data_sets, 1);
  EXPECT_TRUE(cases[0].drawn);
  EXPECT_THAT(cases[0].sensitive, IsEmpty());
}

// Kills: a case without anything to draw that is listed, and one that is left
// out without a reason.
TEST(RedrawnCases, LeaveOutWhatCannotBeDrawn) {
  EXPECT_THAT(Derived(CaseOf("special", "Relu", {"float32"})), IsEmpty());
  EXPECT_THAT(Derived(CaseOf("node", "Shape", {"float32"})), IsEmpty());
  EXPECT_THAT(Derived(CaseOf("node", "ConstantOfShape", {"int64"})), IsEmpty());
  EXPECT_THAT(Derived(CaseOf("node", "Constant", {})), IsEmpty());
  EXPECT_THAT(Derived(CaseOf("model", "simple", {"int64"})), IsEmpty());
  EXPECT_EQ(Derived(CaseOf("node", "Gather", {"float32", "int64"})).size(), 1U);
  EXPECT_EQ(Derived(CaseOf("node", "SequenceInsert", {"", "", "int64"})).size(),
            1U);
  cases::TestCase constant = CaseOf("node", "Relu", {"float32"});
  constant.vacuous = "constant output";
  EXPECT_EQ(WhyNot(constant), "its outputs hang on no input");
  cases::TestCase random = CaseOf("node", "Dropout", {"float32"});
  random.limit.comparator = record::Comparator::kDistribution;
  EXPECT_EQ(WhyNot(random), "its outputs are drawn at random");
}

// Kills: a case that is not found by its source's id.
TEST(SourceOf, IsTheIdOfTheCaseWithItsOwnInputs) {
  EXPECT_EQ(SourceOf("redrawn/Relu/test_a"), "node/Relu/test_a");
  EXPECT_EQ(SourceOf("redrawn/ml.Scaler/test_a"), "node/ml.Scaler/test_a");
  EXPECT_EQ(SourceOf("redrawn/simple/test_a"), "model/simple/test_a");
  EXPECT_EQ(SourceOf("redrawn/pytorch-operator/test_a"),
            "model/pytorch-operator/test_a");
  EXPECT_EQ(SourceOf("node/Relu/test_a"), "node/Relu/test_a");
}

record::PlanRow RowOf(const cases::TestCase& c) {
  record::PlanRow row;
  row.test_id = c.test_id;
  row.suite = c.suite;
  row.directory = c.directory.string();
  return row;
}

class RedrawnCorpus : public testing::Test {
 protected:
  void SetUp() override {
    corpus_ = Got(cases::ReadCorpus(ASSAY_CORPUS));
    cases_ = RedrawnCases({&corpus_, 1});
  }

  cases::Corpus corpus_;
  std::vector<cases::TestCase> cases_;
};

// Kills: a case that is listed and has no other inputs at some seed, or whose
// inputs are of another type or shape than the model takes.
TEST_F(RedrawnCorpus, EachCaseHasOtherInputsOfTheSameForm) {
  for (const cases::TestCase& c : cases_) {
    SCOPED_TRACE(c.test_id);
    const auto own = Got(cases::ReadCaseInputs(c.directory, 1));
    for (const int64_t seed : {0, 1, 2}) {
      record::RunFacts facts;
      facts.seed = seed;
      SCOPED_TRACE(StrCat("with seed ", seed));
      const auto subject = Got(SubjectOf(RowOf(c), facts));
      const auto& inputs = subject.inputs[0];
      const auto& before = own.sets[0].inputs;
      ASSERT_EQ(inputs.size(), before.size());
      EXPECT_FALSE(std::ranges::equal(inputs, before, measure::SameBits));
      for (size_t i = 0; i < inputs.size(); ++i) {
        const Tensor* const tensor = inputs[i].tensor();
        if (tensor == nullptr) continue;
        EXPECT_EQ(tensor->Signature(), before[i].tensor()->Signature());
      }
    }
  }
}

// Kills: a case that is in neither list, and operators that are left out one by
// one.
TEST_F(RedrawnCorpus, WhatIsLeftOutHasAReason) {
  std::map<std::string, int> reasons;
  size_t left_out = 0;
  for (const cases::TestCase& c : corpus_.cases) {
    const std::string why = WhyNot(c);
    if (why.empty()) continue;
    ++reasons[why];
    ++left_out;
  }
  EXPECT_EQ(cases_.size() + left_out, corpus_.cases.size());
  for (const auto& [why, count] : reasons) {
    RecordProperty(why, count);
    std::cout << count << " cases: " << why << "\n";
  }
  std::cout << cases_.size() << " cases are redrawn\n";
  EXPECT_GT(cases_.size(), 4 * left_out);
}

constexpr const char* kExp = "g (float[2] x) => (float[2] y) { y = Exp(x) }";
constexpr const char* kTwice =
    "g (float[2] x) => (float[4] y) { y = Concat<axis = 0>(x, x) }";

/// An answer that is off by nothing, with units of the size of its numbers.
measure::ExactAnswer AnswerOf(const std::vector<double>& numbers,
                              double bound = 0) {
  measure::ExactAnswer answer;
  answer.value = Doubles(numbers);
  answer.bound = Doubles(std::vector<double>(numbers.size(), bound));
  answer.units = answer.hard_units = Doubles(numbers);
  return answer;
}

struct Held {
  std::string fault;
  int64_t known = 0;
};

Held Hold(const char* model, const Value& got,
          const measure::ExactAnswer& answer, const cases::Limit& limit = {}) {
  const auto read = graph::ModelOfText(model);
  OutputJudge judge(read->graph(), limit);
  std::string fault = judge.FaultOf(0, got, answer);
  return {fault, judge.known()};
}

// Kills: a number beyond its units that passes, one within that does not, and
// the case's tolerance where it is wider.
TEST(OutputJudge, HoldsNumbersWithinUnitsOrTheTolerance) {
  EXPECT_EQ(Hold(kExp, Floats({1, 2}), AnswerOf({1, 2})).fault, "");
  EXPECT_EQ(Hold(kExp, Floats({1 + 0x2p-23F, 2}), AnswerOf({1, 2})).fault, "");
  EXPECT_THAT(Hold(kExp, Floats({1 + 0x8p-23F, 2}), AnswerOf({1, 2})).fault,
              HasSubstr("element 0 is 1"));
  EXPECT_EQ(
      Hold(kExp, Floats({1 + 0x8p-23F, 2}), AnswerOf({1, 2}), {.rtol = 1e-3})
          .fault,
      "");
}

// Kills: a copy that is rounded and passes.
TEST(OutputJudge, HoldsCopiesToEveryBit) {
  const auto answer = AnswerOf({1, 2, 1, 2});
  const cases::Limit limit = {.rtol = 1e-3, .atol = 1e-3};
  EXPECT_EQ(Hold(kTwice, Floats({1, 2, 1, 2}), answer, limit).fault, "");
  EXPECT_THAT(
      Hold(kTwice, Floats({1, 2, 1 + 0x1p-23F, 2}), answer, limit).fault,
      HasSubstr("element 2 is 1.0000001"));
}

// Kills: an output of another type or shape, or another integer, that passes.
TEST(OutputJudge, HoldsTypesShapesAndIntegersToTheAnswer) {
  EXPECT_THAT(Hold(kExp, Doubles({1, 2}), AnswerOf({1, 2})).fault,
              HasSubstr("found float64[2], wanted float32"));
  EXPECT_THAT(Hold(kExp, Floats({1, 2, 3}), AnswerOf({1, 2})).fault,
              HasSubstr("wanted [2]"));
  constexpr const char* kIntegers =
      "g (float[2] x) => (int64[2] y) { y = Cast<to = 7>(x) }";
  measure::ExactAnswer integers;
  integers.value = Int64s({3, 4});
  const Value right = integers.value;
  const Value wrong = Int64s({3, 5});
  EXPECT_EQ(Hold(kIntegers, right, integers, {.atol = 9}).fault, "");
  EXPECT_NE(Hold(kIntegers, wrong, integers, {.atol = 9}).fault, "");
}

// Kills: an item of a sequence that is passed over, or is missing.
TEST(OutputJudge, HoldsEachItemOfASequence) {
  constexpr const char* kSplit =
      "g (float[2] x) => (seq(float[1]) y) { y = SplitToSequence(x) }";
  const ValueType element = ValueType::OfTensor(DType::kFloat32, {});
  const ValueType exact = ValueType::OfTensor(DType::kFloat64, {});
  measure::ExactAnswer answer;
  answer.value = Sequence{exact, {Doubles({1}), Doubles({2})}};
  const Value right = Sequence{element, {Floats({1}), Floats({2})}};
  EXPECT_EQ(Hold(kSplit, right, answer).fault, "");
  EXPECT_THAT(
      Hold(kSplit, Sequence{element, {Floats({1}), Floats({3})}}, answer).fault,
      HasSubstr("item 1: element 0 is 3"));
  EXPECT_NE(Hold(kSplit, Sequence{element, {Floats({1})}}, answer).fault, "");
}

// Kills: a pass over elements that the oracle knows nothing of.
TEST(OutputJudge, CountsWhatTheOracleKnows) {
  EXPECT_EQ(Hold(kExp, Floats({1, 2}), AnswerOf({1, 2})).known, 2);
  EXPECT_EQ(Hold(kExp, Floats({9, 9}), AnswerOf({1, 2}, kInf)).known, 0);
  measure::ExactAnswer vague = AnswerOf({1, 2});
  vague.units = vague.hard_units = Doubles({kInf, kInf});
  EXPECT_EQ(Hold(kExp, Floats({1, 2.001F}), vague, {.rtol = 1e-3}).fault, "");
  EXPECT_NE(Hold(kExp, Floats({1, 2.003F}), vague, {.rtol = 1e-3}).fault, "");
  EXPECT_EQ(Hold(kExp, Floats({9, 9}), {}).known, 0);
}

// Kills: an output of which the oracle knows nothing, or too little to see an
// error of 1 %, taken for right; one that it knows in doubt.
TEST(OutputJudge, SaysWhatItLeavesOpen) {
  const auto model = graph::ModelOfText(kExp);
  OutputJudge judge(model->graph(), {.rtol = 1e-3});
  const Value right = Floats({1, 2});
  const struct {
    measure::ExactAnswer answer;
    const char* doubt;
  } rows[] = {
      {AnswerOf({1, 2}), ""},
      {AnswerOf({1, 2}, kInf), "the oracle knows none of its elements"},
      {AnswerOf({1, 2}, 0.5), "of its size and may be by "},
      {{}, "the oracle knows nothing of it"},
      {AnswerOf({1, 2}), ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(judge.FaultOf(0, right, row.answer), "");
    if (*row.doubt == 0) {
      EXPECT_EQ(judge.doubt(), "");
    } else {
      EXPECT_THAT(judge.doubt(), HasSubstr(row.doubt));
    }
  }
}

}  // namespace
}  // namespace assay::redrawn
