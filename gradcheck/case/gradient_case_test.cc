// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/gradient_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "framework/core/text.h"

namespace assay::gradcheck {
namespace {

using enum cases::Tier;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A case of one node with inputs and outputs of these types.
cases::TestCase CaseOfNode(const std::string& op,
                           std::vector<std::string> inputs,
                           std::vector<std::string> outputs) {
  cases::TestCase c;
  c.test_id = StrCat("node/", op, "/test_a");
  c.corpus = "onnx";
  c.suite = c.kind = "node";
  c.op = op;
  c.domain = "ai.onnx";
  c.tier = kSmoke;
  c.directory = "some/place";
  c.input_dtypes = std::move(inputs);
  c.output_dtypes = std::move(outputs);
  return c;
}

std::vector<cases::TestCase> Derived(const cases::TestCase& source) {
  cases::Corpus corpus;
  corpus.cases = {source};
  return GradientCases({&corpus, 1});
}

using Ends = std::map<std::string, cases::Tier>;

/// The ends of the derived ids, by tier.
Ends EndsOf(const cases::TestCase& source) {
  Ends ends;
  const std::string begin = StrCat("gradcheck/", source.op, "/test_a#");
  for (const cases::TestCase& c : Derived(source)) {
    EXPECT_TRUE(c.test_id.starts_with(begin)) << c.test_id;
    EXPECT_TRUE(ends.emplace(c.test_id.substr(begin.size()), c.tier).second);
  }
  return ends;
}

// Kills: a class or a type that is left out, a tier that is another, and the
// kinks of an operator without, or its integers.
TEST(GradientCases, AreOneForEachClassAndType) {
  const Ends relu = {
      {"official.float32", kSmoke},   {"redrawn.float32", kCi},
      {"kinks.float32", kCi},         {"redrawn.float64", kCi},
      {"redrawn.float16", kCi},       {"redrawn.bfloat16", kCi},
      {"jacobian.float32", kNightly}, {"official.float64", kNightly},
      {"official.float16", kNightly}, {"official.bfloat16", kNightly},
      {"kinks.float64", kNightly},    {"kinks.float16", kNightly},
      {"kinks.bfloat16", kNightly}};
  EXPECT_EQ(EndsOf(CaseOfNode("Relu", {"float32"}, {"float32"})), relu);
  EXPECT_EQ(EndsOf(CaseOfNode("Conv", {"float16", "float16"}, {"float16"})),
            (Ends{{"official.float16", kSmoke},
                  {"redrawn.float16", kCi},
                  {"exact.float16", kCi},
                  {"jacobian.float16", kNightly}}));
  EXPECT_EQ(EndsOf(CaseOfNode("Exp", {"float64"}, {"float64"})),
            (Ends{{"official.float64", kSmoke},
                  {"redrawn.float64", kCi},
                  {"jacobian.float64", kNightly}}));
}

// Kills: a type that the operator does not permit, and one that its definition
// does not compute in.
TEST(GradientCases, AreOfTheTypesThatTheOperatorPermits) {
  struct Row {
    const char* domain;
    const char* op;
    bool halves, bfloat16, doubles;
  };
  for (const Row& row :
       {Row{"ai.onnx", "Shrink", true, false, true},
        Row{"ai.onnx", "LinearAttention", true, true, false},
        Row{"ai.onnx.preview", "FlexAttention", false, false, false}}) {
    SCOPED_TRACE(row.op);
    const std::vector<std::string> floats(3, "float32");
    cases::TestCase c = CaseOfNode(row.op, floats, {"float32"});
    c.domain = row.domain;
    const auto ends = EndsOf(c);
    EXPECT_TRUE(ends.contains("redrawn.float32"));
    EXPECT_EQ(ends.contains("redrawn.float16"), row.halves);
    EXPECT_EQ(ends.contains("redrawn.bfloat16"), row.bfloat16);
    EXPECT_EQ(ends.contains("redrawn.float64"), row.doubles);
  }
  // Dropout has bfloat16 from version 13 on.
  cases::TestCase c = CaseOfNode("Dropout", {"float32"}, {"float32"});
  for (const int opset : {12, 13}) {
    c.opset = opset;
    EXPECT_TRUE(EndsOf(c).contains("redrawn.float16"));
    EXPECT_EQ(EndsOf(c).contains("redrawn.bfloat16"), opset == 13);
  }
}

// Kills: an expansion without cases, in types that it is not written for, or of
// what no gradient flows through.
TEST(GradientCases, OfAnExpansionAreOfItsOwnType) {
  cases::TestCase c = CaseOfNode("Celu", {"float32"}, {"float32"});
  c.kind = "expanded";
  EXPECT_EQ(EndsOf(c),
            (Ends{{"official.float32", kCi}, {"redrawn.float32", kCi}}));
  c.op = "Floor";
  EXPECT_THAT(Derived(c), IsEmpty());
}

// Kills: a network that is left as it is written, or listed twice as that.
TEST(GradientCases, OfANetworkAreTheOtherClassesAndTypes) {
  cases::TestCase c = CaseOfNode("golden", {"float32"}, {"float32"});
  c.test_id = "gradcheck/golden/test_a#official.float32";
  c.suite = "gradcheck";
  c.kind = "graph";
  const Ends wanted = {
      {"redrawn.float32", kCi},       {"redrawn.float64", kCi},
      {"redrawn.float16", kCi},       {"redrawn.bfloat16", kCi},
      {"official.float64", kNightly}, {"official.float16", kNightly},
      {"official.bfloat16", kNightly}};
  c.operators = {"ai.onnx::Add", "ai.onnx::Tanh"};
  EXPECT_EQ(EndsOf(c), wanted);
  c.operators = {"ai.onnx::Add", "ai.onnx::Relu"};
  EXPECT_EQ(EndsOf(c), (Ends{{"redrawn.float32", kCi},
                             {"redrawn.float64", kCi},
                             {"official.float64", kNightly}}));
}

// Kills: a network of many layers that is drawn in float32, or not in float64.
TEST(GradientCases, OfAScaledModelAreOfFloat64) {
  cases::TestCase c = CaseOfNode("light", {"float32"}, {"float32"});
  c.test_id = "gradcheck/light/test_a#official.float32";
  c.suite = "gradcheck";
  c.kind = "scaled";
  c.operators = {"ai.onnx::Conv", "ai.onnx::Relu"};
  EXPECT_EQ(EndsOf(c),
            (Ends{{"redrawn.float64", kCi}, {"official.float64", kNightly}}));
}

// Kills: a case of integers, of what no gradient flows through, of another
// suite or of an operator that ONNX has not.
TEST(GradientCases, AreNoneWhereNothingCanBeDifferentiated) {
  for (const cases::TestCase& c :
       {CaseOfNode("Add", {"int32", "int32"}, {"int32"}),
        CaseOfNode("Floor", {"float32"}, {"float32"}),
        CaseOfNode("ArgMax", {"float32"}, {"int64"}),
        CaseOfNode("NoSuch", {"float32"}, {"float32"})}) {
    EXPECT_THAT(Derived(c), IsEmpty()) << c.op;
  }
  cases::TestCase other = CaseOfNode("Relu", {"float32"}, {"float32"});
  other.suite = "model";
  EXPECT_THAT(Derived(other), IsEmpty());
}

// Kills: facts of the source that are lost, or do not become those of the type.
TEST(GradientCases, KeepTheFactsOfTheirSource) {
  cases::TestCase source =
      CaseOfNode("Gather", {"float32", "int64"}, {"float32"});
  source.dtypes = {"float32", "int64"};
  source.n_data_sets = 3;
  source.vacuous = "constant output";
  source.sensitive = "0";
  source.limit.rtol = 0.25;
  for (const cases::TestCase& c : Derived(source)) {
    EXPECT_EQ(c.suite + " " + c.corpus, "gradcheck gradcheck");
    EXPECT_EQ(c.claim, cases::ClaimKind::kGradient);
    EXPECT_EQ(c.directory, "some/place");
    EXPECT_EQ(c.n_data_sets, 1);
    EXPECT_EQ(c.vacuous + c.sensitive, "");
    EXPECT_EQ(c.limit.rtol, 0.25);
    const std::string type = c.test_id.substr(c.test_id.rfind('.') + 1);
    EXPECT_THAT(c.input_dtypes, ElementsAre(type, "int64"));
    EXPECT_THAT(c.output_dtypes, ElementsAre(type));
    EXPECT_THAT(c.dtypes, UnorderedElementsAre(type, "int64"));
  }
}

// Kills: another case than the one that a row is derived from.
TEST(SourceOf, IsTheCaseWithoutItsEnd) {
  EXPECT_EQ(SourceOf("gradcheck/Relu/test_relu#redrawn.float64"),
            "node/Relu/test_relu");
  EXPECT_EQ(SourceOf("node/Relu/test_relu"), "node/Relu/test_relu");
  EXPECT_EQ(SourceOf("gradcheck/Relu/test_relu"), "gradcheck/Relu/test_relu");
  EXPECT_EQ(SourceOf("model/a/b#c"), "model/a/b#c");
  EXPECT_EQ(SourceOf("gradcheck/ml.Scaler/test_a#redrawn.float32"),
            "node/ml.Scaler/test_a");
  EXPECT_EQ(SourceOf("gradcheck/golden/linear#redrawn.float64"),
            "gradcheck/golden/linear#official.float32");
  // A case that was written is derived from none.
  for (const char* id :
       {"gradcheck/Relu/a#field.float32", "gradcheck/Relu/a#borders.float16",
        "gradcheck/Relu/a#special.float64",
        "gradcheck/composed/a#composed.float32"}) {
    EXPECT_EQ(SourceOf(id), id);
  }
}

// Kills: a class or a type that is written and not read, or read as another.
TEST(Variant, IsReadAsItWasWritten) {
  std::set<std::string> seen;
  for (const InputClass input_class :
       {InputClass::kOfficial, InputClass::kRedrawn, InputClass::kExact,
        InputClass::kKinks, InputClass::kJacobian, InputClass::kField,
        InputClass::kBorders, InputClass::kSpecial, InputClass::kComposed}) {
    for (const DType type : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16}) {
      const std::string suffix = Suffix({input_class, type});
      EXPECT_TRUE(seen.insert(suffix).second) << suffix;
      const auto read = VariantOf(StrCat("gradcheck/Relu/a", suffix));
      ASSERT_TRUE(read.has_value()) << suffix;
      EXPECT_EQ(read->input_class, input_class);
      EXPECT_EQ(read->type, type);
    }
  }
  EXPECT_TRUE(seen.contains("#redrawn.float64"));
  // The last # counts.
  EXPECT_EQ(VariantOf("a/B/c#kinks.float32#exact.bfloat16")->input_class,
            InputClass::kExact);
}

// Kills: an end that is nearly one.
TEST(Variant, IsNothingForAnyOtherEnd) {
  for (const char* id :
       {"", "gradcheck/Relu/a", "#", "a#redrawn", "a#redrawn.", "a#.float32",
        "a#drawn.float32", "a#redrawn.int32", "a#redrawn.float8e4m3fn",
        "a#redrawn.float321", "a#redrawn.float32/b", "a#Redrawn.float32",
        "redrawn.float32", "a#redrawn.float32#"}) {
    EXPECT_FALSE(VariantOf(id).has_value()) << id;
  }
}

// Kills: a network of a person's own without gradients; one of ONNX's that gets
// some; a type that an operator of it is not permitted in.
TEST(GradientCases, AreDerivedFromNetworksOfOnesOwn) {
  cases::TestCase c = CaseOfNode("mine", {"float32"}, {"float32"});
  c.test_id = "model/mine/test_a";
  c.suite = c.kind = "model";
  c.dtypes = {"float32", "int64"};
  c.operators = {"ai.onnx::Gemm", "ai.onnx::Tanh"};
  EXPECT_THAT(EndsOf(c), IsEmpty());
  c.own = true;
  const Ends smooth = {
      {"official.float32", kCi},      {"redrawn.float32", kCi},
      {"redrawn.float64", kCi},       {"redrawn.float16", kCi},
      {"redrawn.bfloat16", kCi},      {"official.float64", kNightly},
      {"official.float16", kNightly}, {"official.bfloat16", kNightly}};
  EXPECT_EQ(EndsOf(c), smooth);
  c.operators.emplace_back("ai.onnx::Relu");
  const Ends kinked = {{"official.float32", kCi},
                       {"redrawn.float32", kCi},
                       {"redrawn.float64", kCi},
                       {"official.float64", kNightly}};
  EXPECT_EQ(EndsOf(c), kinked);
  c.operators = {"ai.onnx::Gemm", "ai.onnx::RotaryEmbedding"};
  EXPECT_EQ(EndsOf(c), (Ends{{"official.float32", kCi},
                             {"redrawn.float32", kCi},
                             {"redrawn.float16", kCi},
                             {"redrawn.bfloat16", kCi},
                             {"official.float16", kNightly},
                             {"official.bfloat16", kNightly}}));
  // Cos is in bfloat16 from 22 on.
  c.operators = {"ai.onnx::Cos", "ai.onnx::Gemm"};
  c.imports = {{"ai.onnx", 22}};
  EXPECT_EQ(EndsOf(c), smooth);
  c.imports = {{"ai.onnx", 21}};
  EXPECT_EQ(EndsOf(c), (Ends{{"official.float32", kCi},
                             {"redrawn.float32", kCi},
                             {"redrawn.float64", kCi},
                             {"redrawn.float16", kCi},
                             {"official.float64", kNightly},
                             {"official.float16", kNightly}}));
  c.operators = {"ai.onnx::Gemm", "mine::Function"};
  EXPECT_EQ(EndsOf(c),
            (Ends{{"official.float32", kCi}, {"redrawn.float32", kCi}}));
  c.dtypes = {"float64"};
  c.operators = {"ai.onnx::Gemm"};
  EXPECT_EQ(EndsOf(c),
            (Ends{{"official.float64", kCi}, {"redrawn.float64", kCi}}));
  c.dtypes = {"int64"};
  EXPECT_THAT(EndsOf(c), IsEmpty());
}

}  // namespace
}  // namespace assay::gradcheck
