// SPDX-License-Identifier: Apache-2.0

#include "perf/times/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

using testing::AnyOf;
using testing::ElementsAre;

cases::TestCase CaseOf(const char* test_id, const char* op,
                       const char* shapes) {
  cases::TestCase c;
  const std::string_view id = test_id;
  c.test_id = id;
  c.suite = c.corpus = c.kind = std::string(id.substr(0, id.find('/')));
  c.op = op;
  c.domain = "ai.onnx";
  c.shape_sig = shapes;
  c.input_dtypes = {"float32"};
  c.n_data_sets = 2;
  c.sensitive = "0";
  return c;
}

/// Without those that need no corpus.
std::vector<cases::TestCase> Derived(std::vector<cases::TestCase> sources) {
  cases::Corpus corpus;
  corpus.cases = std::move(sources);
  auto all = TimeCases({&corpus, 1});
  std::erase_if(all, [](const cases::TestCase& c) {
    return StepIdOf(c.test_id).has_value() ||
           CollectiveIdOf(c.test_id).has_value();
  });
  return all;
}

// Kills: a case of another suite's name, or with data sets that nobody times.
TEST(TimeCases, StandForNodesAndModels) {
  const auto cases = Derived({CaseOf("node/Relu/test_a", "Relu", "[2]"),
                              CaseOf("model/simple/test_b", "simple", "[2]")});
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].test_id, "time/Relu/test_a");
  EXPECT_EQ(cases[0].suite, "time");
  EXPECT_EQ(cases[0].corpus, "time");
  EXPECT_TRUE(cases[0].drawn);
  EXPECT_EQ(cases[0].n_data_sets, 1);
  EXPECT_EQ(cases[0].sensitive, "");
  EXPECT_EQ(cases[1].test_id, "time/simple/test_b");
  EXPECT_EQ(SourceOf(cases[0].test_id), "node/Relu/test_a");
  EXPECT_EQ(SourceOf(cases[1].test_id), "model/simple/test_b");
  EXPECT_EQ(SourceOf("compare/ml.Scaler/test_a"), "node/ml.Scaler/test_a");
  EXPECT_EQ(SourceOf("redrawn/Relu/test_a"), "redrawn/Relu/test_a");
}

// Kills: a function's body that counts as an operator of its own; times of what
// is drawn at random, whose outputs nobody can judge.
TEST(TimeCases, LeaveOutWhatIsNoOperatorOfItsOwn) {
  auto expanded = CaseOf("node/Elu/test_a_expanded", "Elu", "[2]");
  expanded.kind = "expanded";
  auto random = CaseOf("node/Dropout/test_a", "Dropout", "[2]");
  random.limit.comparator = record::Comparator::kDistribution;
  EXPECT_TRUE(Derived({expanded, random, CaseOf("special/Elu/a", "Elu", "[2]")})
                  .empty());
}

// Kills: an operator that ci leaves out, or times at its least case.
TEST(TimeCases, TheGreatestOfEachOperatorIsOfCi) {
  const auto cases = Derived({CaseOf("node/Add/test_a", "Add", "[2,3];[3]"),
                              CaseOf("node/Add/test_b", "Add", "[2,3];[2,3]"),
                              CaseOf("node/Add/test_c", "Add", "[2,3];[2,3]"),
                              CaseOf("node/Abs/test_d", "Abs", "[n]"),
                              CaseOf("model/simple/test_e", "Abs", "[9]")});
  std::vector<std::string> ci;
  for (const cases::TestCase& c : cases) {
    if (c.tier == cases::Tier::kCi) ci.push_back(c.test_id);
    EXPECT_THAT(c.tier, AnyOf(cases::Tier::kCi, cases::Tier::kNightly));
  }
  EXPECT_THAT(ci, ElementsAre("time/Add/test_b", "time/Abs/test_d"));
}

TEST(CompareCases, AreTheSameOfTheirOwnSuite) {
  cases::Corpus corpus;
  corpus.cases = {CaseOf("node/Relu/test_a", "Relu", "[2]")};
  const auto cases = CompareCases({&corpus, 1});
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].test_id, "compare/Relu/test_a");
  EXPECT_EQ(cases[0].suite, "compare");
  EXPECT_EQ(SourceOf(cases[0].test_id), "node/Relu/test_a");
}

// Kills: inputs of a case that an oracle is not asked about.
TEST(TimesSubject, HasSeveralSetsOfJudgedInputsWhereTheyAreDrawn) {
  const auto corpus = Got(cases::ReadCorpus(ASSAY_CORPUS));
  for (const cases::TestCase& c : TimeCases({&corpus, 1})) {
    if (c.tier != cases::Tier::kCi || c.directory.empty()) continue;
    SCOPED_TRACE(c.test_id);
    record::PlanRow row;
    row.test_id = c.test_id;
    row.suite = c.suite;
    row.directory = c.directory.string();
    row.drawn = c.drawn;
    const auto subject = Got(SubjectOf(row, {}));
    EXPECT_EQ(std::ssize(subject.inputs), c.drawn ? kJudgedSets : 1);
    const size_t of_one = GradientIdOf(c.test_id).has_value() ? 3 : 1;
    EXPECT_EQ(QuestionsOf(row, {}).size(), c.drawn ? of_one : 0);
  }
}

std::vector<float> Sorted(const Value& value) {
  std::vector<float> elements = FloatsOf(value);
  std::ranges::sort(elements);
  return elements;
}

FreshInputs FreshOf(const char* text, const std::vector<Value>& inputs) {
  const auto model = graph::ModelOfText(text);
  return FreshInputs(draw::KindsOf(model->graph()), model->graph(), inputs, 7);
}

constexpr const char* kReshape =
    "g (float[3,3] x, int64[2] shape) => (float[n,m] y) { y = Reshape(x, "
    "shape) }";

// Kills: inputs that come back, elements that are lost, settings that change.
TEST(FreshInputs, AreInAnotherOrderEachTime) {
  const std::vector<Value> own = {Floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                                  Int64s({1, 9})};
  FreshInputs fresh = FreshOf(kReshape, own);
  EXPECT_TRUE(fresh.is_fresh());
  std::vector<Value> before = own;
  std::set<std::vector<float>> seen;
  for (int i = 0; i < 500; ++i) {
    const auto next = Got(fresh.Next());
    EXPECT_FALSE(measure::SameBits(next[0], before[0]));
    EXPECT_FALSE(measure::SameBits(next[0], own[0]));
    EXPECT_TRUE(measure::SameBits(next[1], own[1]));
    EXPECT_EQ(Sorted(next[0]), Sorted(own[0]));
    EXPECT_EQ(next[0].tensor()->shape(), own[0].tensor()->shape());
    seen.insert(FloatsOf(next[0]));
    before = next;
  }
  EXPECT_GT(seen.size(), 490U);
}

// Kills: two inputs that move together, as many times as one has elements.
TEST(FreshInputs, EachInputMovesOnItsOwn) {
  const std::vector<Value> own = {Floats({1, 2, 3, 4, 5, 6, 7, 8}),
                                  Floats({1, 2, 3, 4, 5, 6, 7, 8})};
  FreshInputs fresh = FreshOf(
      "g (float[8] a, float[8] b) => (float[8] y) { y = Add(a, b) }", own);
  int alike = 0;
  for (int i = 0; i < 100; ++i) {
    const auto next = Got(fresh.Next());
    alike += measure::SameBits(next[0], next[1]) ? 1 : 0;
  }
  EXPECT_LT(alike, 5);
}

// Kills: cotangents that stay, which alone decide some gradients.
TEST(FreshInputs, MoveWhatStandsBehindTheInputsOfTheGraph) {
  const auto model = graph::ModelOfText(
      "g (float[3,3] x, int64[2] shape) => (float[n,m] y) { y = Reshape(x, "
      "shape) }");
  const Tensor dy = Floats({1, 2, 3, 4, 5, 6, 7, 8, 9});
  FreshInputs fresh(draw::KindsOf(model->graph()), model->graph(),
                    {Floats({3, 3}, FloatsOf(dy)), Int64s({1, 9}), dy}, 7,
                    /*n_cotangents=*/1);
  const auto next = Got(fresh.Next());
  EXPECT_FALSE(measure::SameBits(next[2], dy));
  EXPECT_TRUE(measure::SameBits(next[1], Int64s({1, 9})));
  EXPECT_EQ(Sorted(next[2]), FloatsOf(dy));
}

// Kills: inputs of few orders that are taken for new ones.
TEST(FreshInputs, AreTheSameWhereTheyHaveFewOrders) {
  constexpr const char* kNeg = "g (float[n] x) => (float[n] y) { y = Neg(x) }";
  const std::vector<std::vector<float>> few = {
      {1}, {1, 2}, {}, std::vector<float>(64, 3), {0, 0, 0, 0, 0, 0, 1}};
  for (const auto& elements : few) {
    const std::vector<Value> own = {Floats(elements)};
    FreshInputs fresh = FreshOf(kNeg, own);
    EXPECT_FALSE(fresh.is_fresh());
    EXPECT_TRUE(measure::SameBits(Got(fresh.Next())[0], own[0]));
  }
  const std::vector<Value> scalar = {Scalar(2.0F)};
  FreshInputs fresh =
      FreshOf("g (float x) => (float y) { y = Neg(x) }", scalar);
  EXPECT_FALSE(fresh.is_fresh());
}

}  // namespace
}  // namespace assay::times
