// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::redrawn {
namespace {

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

}  // namespace
}  // namespace assay::redrawn
