// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

/// A case in files.
class SubjectTest : public testing::Test {
 protected:
  void Write(std::string_view model, const std::vector<Value>& inputs) {
    inputs_ = inputs;
    std::filesystem::remove_all(folder_.path() / "test_data_set_0");
    const cases::CaseData data = {graph::ModelOfText(model), {{inputs, {}}}};
    ASSERT_TRUE(cases::WriteCaseFiles(folder_.path(), data).ok());
  }

  Result<suite::Subject> Subject(const std::string& end, int64_t seed = 1) {
    record::PlanRow row;
    row.test_id = "gradcheck/A/b" + end;
    row.directory = folder_.path().string();
    record::RunFacts facts;
    facts.seed = seed;
    ASSAY_ASSIGN_OR_RETURN(const GradientCase c, CaseOf(row, facts));
    return SubjectOf(c);
  }

  /// Which inputs are the file's, bit by bit.
  std::vector<bool> Kept(const suite::Subject& subject) {
    std::vector<bool> kept;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      kept.push_back(measure::SameBits(subject.inputs[0][i], inputs_[i]));
    }
    return kept;
  }

  file::ScratchFolder folder_;
  std::vector<Value> inputs_;
};

constexpr std::string_view kResize =
    "g (float[1,1,2] x, float[3] s) => (float[1,1,4] y) { y = Resize(x, , s) }";

// Kills: inputs that are drawn where a case has its own: those of an official
// case, or the very values that a thread reports.
TEST_F(SubjectTest, OfficialAndFieldTakeTheInputsOfTheFiles) {
  Write("g (float[2] x, float[2] z) => (float[2] y) { y = Mul(x, z) }",
        {Floats({2}, {0, 5}), Floats({2}, {1e6F, -0.0F})});
  for (const char* end : {"#official.float32", "#field.float32",
                          "#borders.float32", "#special.float32"}) {
    const auto subject = Got(Subject(end));
    EXPECT_THAT(Kept(subject), ElementsAre(true, true)) << end;
    EXPECT_THAT(subject.targets, ElementsAre("x", "z"));
  }
}

// Kills: a target that the catalogue does not name, or one that it does and is
// left out, and inputs drawn that no gradient is taken by.
TEST_F(SubjectTest, TargetsAreThoseOfTheCatalogueAndAloneDrawn) {
  Write(kResize, {Floats({1, 1, 2}, {1, 2}), Floats({3}, {1, 1, 2})});
  const auto resize = Got(Subject("#redrawn.float32"));
  EXPECT_THAT(resize.targets, ElementsAre("x"));
  EXPECT_THAT(Kept(resize), ElementsAre(false, true));
  Write(
      "g (float[3] x, float low, float high) => (float[3] y) "
      "{ y = Clip(x, low, high) }",
      {Floats({3}, {1, 2, 3}), Floats({}, {1.5F}), Floats({}, {2.5F})});
  EXPECT_THAT(Subject("#official.float32")->targets,
              ElementsAre("x", "low", "high"));
  Write("g (float[3] x) => (float[3] y) { y = Floor(x) }",
        {Floats({3}, {1, 2, 3})});
  EXPECT_THAT(Subject("#official.float32")->targets, IsEmpty());
}

// Kills: a network whose targets are those of its first node alone, integers
// that are taken for targets, and what a path leads from to no output.
TEST_F(SubjectTest, TargetsOfSeveralNodesAreWhatAPathLeadsFrom) {
  const Tensor index = Int64s({1});
  Write(
      "g (float[3] x, int64[1] i, float[3] f, float[1] b) => (float[1] y) "
      "{ a = Floor(f) c = Add(x, a) g = Gather(c, i) y = Add(g, b) }",
      {Floats({3}, {1, 2, 3}), index, Floats({3}, {1, 2, 3}),
       Floats({1}, {0.5F})});
  const auto subject = Got(Subject("#redrawn.float32"));
  EXPECT_THAT(subject.targets, ElementsAre("x", "b"));
  EXPECT_THAT(Kept(subject), ElementsAre(false, true, true, false));
}

// Kills: an input that keeps its type in a model of another, and scales that do
// not, which Resize reads in float32 alone.
TEST_F(SubjectTest, InputsHaveTheTypesOfTheModelInTheTypeOfTheCase) {
  Write(kResize, {Floats({1, 1, 2}, {1, 2}), Floats({3}, {1, 1, 2})});
  for (const DType type :
       {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    SCOPED_TRACE(ToString(type));
    const auto subject = Got(Subject(StrCat("#official.", ToString(type))));
    const Graph& graph = subject.model->graph();
    EXPECT_EQ(graph[graph.inputs[0]].type.dtype, type);
    EXPECT_EQ(graph[graph.inputs[1]].type.dtype, DType::kFloat32);
    const auto& inputs = subject.inputs[0];
    EXPECT_EQ(inputs[0].tensor()->dtype(), type);
    EXPECT_THAT(NumbersOf(*inputs[0].tensor()), ElementsAre(1, 2));
    EXPECT_TRUE(measure::SameBits(inputs[1], inputs_[1]));
  }
}

// Kills: weights that no gradient is taken by, are not drawn, or are drawn in
// the case as it is written; integers among them; and targets in another order.
TEST_F(SubjectTest, InitializersAreTargetsBehindTheInputs) {
  Write(
      "g (float[2] x) => (float[2] y) "
      "<float[2] w = {1, 3}, int64[1] s = {2}, float[2] v = {5, 6}> "
      "{ a = Mul(x, w) b = Reshape(a, s) c = Floor(v) y = Add(b, c) }",
      {Floats({2}, {1, 2})});
  for (const auto& [end, drawn] : {std::pair{"#official.float32", false},
                                   {"#redrawn.float32", true},
                                   {"#official.bfloat16", false},
                                   {"#redrawn.bfloat16", true}}) {
    SCOPED_TRACE(end);
    const auto subject = Got(Subject(end));
    EXPECT_THAT(subject.targets, ElementsAre("x", "w"));
    EXPECT_THAT(ShapesOfTargets(subject), ElementsAre(Shape{2}, Shape{2}));
    const Graph& graph = subject.model->graph();
    const auto numbers = [&](const char* name) {
      return NumbersOf(*graph.FindInitializer(graph.FindValue(name))->tensor());
    };
    EXPECT_THAT(numbers("v"), ElementsAre(5, 6));
    if (drawn) {
      EXPECT_THAT(numbers("w"), testing::Not(ElementsAre(1, 3)));
    } else {
      EXPECT_THAT(numbers("w"), ElementsAre(1, 3));
    }
  }
}

// Kills: a network of integers and weights that stays in its own type.
TEST_F(SubjectTest, WeightsAloneTellTheType) {
  Write(
      "g (int64[1] i) => (float[1] y) <float[2] w = {1, 3}> "
      "{ y = Gather(w, i) }",
      {Int64s({1})});
  const auto subject = Got(Subject("#official.float64"));
  EXPECT_THAT(subject.targets, ElementsAre("w"));
  const Graph& graph = subject.model->graph();
  EXPECT_EQ(graph.FindInitializer(graph.FindValue("w"))->tensor()->dtype(),
            DType::kFloat64);
}

// Kills: inputs that an oracle and a judge do not share, and a seed without
// use.
TEST_F(SubjectTest, IsTheSameForTheSameSeedOnly) {
  Write("g (float[4] x) => (float[4] y) { y = Neg(x) }",
        {Floats({4}, {1, 2, 3, 4})});
  const auto drawn = [&](const char* end, int64_t seed) {
    return NumbersOf(*Subject(end, seed)->inputs[0][0].tensor());
  };
  const auto own = drawn("#redrawn.float32", 1);
  EXPECT_THAT(drawn("#redrawn.float32", 1), ElementsAreArray(own));
  EXPECT_NE(drawn("#redrawn.float32", 2), own);
  for (const double x : drawn("#exact.float32", 1)) {
    EXPECT_EQ(x, static_cast<int>(x));
    EXPECT_LE(std::abs(x), 2);
  }
}

// Kills: a kink in an attribute that no input meets.
TEST_F(SubjectTest, KinksMeetTheNumbersOfAttributes) {
  Write(
      "g (float[400] x) => (float[400] y) "
      "{ y = Shrink<lambd = 3.5>(x) }",
      {Floats({400}, std::vector<float>(400, 1))});
  const auto numbers =
      NumbersOf(*Subject("#kinks.float32")->inputs[0][0].tensor());
  EXPECT_THAT(numbers, testing::Contains(3.5));
  EXPECT_THAT(numbers, testing::Contains(-3.5));
}

// Kills: numbers drawn anew for a case that was written as it is; targets that
// are not those of the file.
TEST_F(SubjectTest, ASubjectInFilesIsTakenAsItIs) {
  Write("g (double[2] x, double[2] z) => (double[2] y) { y = Mul(x, z) }",
        {Doubles({0.1, 5}), Doubles({1, 1})});
  folder_.Write("targets.txt", "z\n");
  const auto subject = Got(Subject("#redrawn.float64"));
  EXPECT_THAT(Kept(subject), ElementsAre(true, true));
  EXPECT_THAT(subject.targets, ElementsAre("z"));
  folder_.Write("targets.txt", "z\ny\n");
  EXPECT_EQ(Subject("#redrawn.float64").status().message(),
            StrCat((folder_.path() / "targets.txt").string(),
                   ": found 'y', wanted an input of the model"));
}

// Kills: a bound of a piece that follows from attributes, or from none, that no
// input meets.
TEST_F(SubjectTest, KinksMeetTheEndsOfSlopes) {
  for (const auto& [node, end] :
       {std::pair("HardSwish(x)", 3.0),
        std::pair("HardSigmoid<alpha = 0.25, beta = 0.5>(x)", 2.0)}) {
    Write(StrCat("g (float[400] x) => (float[400] y) { y = ", node, " }"),
          {Floats({400}, std::vector<float>(400, 1))});
    const auto numbers =
        NumbersOf(*Subject("#kinks.float32")->inputs[0][0].tensor());
    EXPECT_THAT(numbers, testing::Contains(end)) << node;
    EXPECT_THAT(numbers, testing::Contains(-end)) << node;
  }
}

// Kills: inputs of Max and bounds of Clip that are rarely met.
TEST_F(SubjectTest, KinksOfComparedInputsAreEqualInMostPlaces) {
  const Value many = Floats({400}, std::vector<float>(400, 1));
  Write("g (float[400] a, float[400] b) => (float[400] y) { y = Max(a, b) }",
        {many, many});
  const auto max = Got(Subject("#kinks.float32"));
  const auto a = NumbersOf(*max.inputs[0][0].tensor());
  const auto b = NumbersOf(*max.inputs[0][1].tensor());
  int equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  EXPECT_GT(equal, 250);
  EXPECT_LT(equal, 400);
  Write(
      "g (float[400] x, float low, float high) => (float[400] y) "
      "{ y = Clip(x, low, high) }",
      {many, Floats({}, {1.5F}), Floats({}, {2.5F})});
  const auto clip = Subject("#kinks.float32");
  const auto x = NumbersOf(*clip->inputs[0][0].tensor());
  for (const size_t bound : {1U, 2U}) {
    const double at = NumbersOf(*clip->inputs[0][bound].tensor())[0];
    EXPECT_GT(std::ranges::count(x, at), 100);
  }
}

// Kills: a case that is run as something when its id says nothing.
TEST_F(SubjectTest, AnUnknownVariantIsNotRead) {
  Write("g (float[1] x) => (float[1] y) { y = Neg(x) }", {Floats({1}, {1})});
  for (const char* end : {"", "#drawn.float32", "#redrawn.int32"}) {
    const auto subject = Subject(end);
    EXPECT_EQ(subject.status().code(), StatusCode::kUnsupported) << end;
    EXPECT_EQ(subject.status().reason(), Reason::kReader) << end;
  }
}

// Kills: a claim of an accumulator that reaches between nodes, or into the body
// of a loop.
TEST(AccumulatorOf, IsThatOfThePlanInOneNode) {
  const struct {
    std::string_view model;
    std::string claimed;
    DType type;
  } rows[] = {
      {"{ y = Abs(x) }", "float32", DType::kFloat32},
      {"{ y = Abs(x) }", "", DType::kFloat16},
      {"{ z = Abs(x) y = Abs(z) }", "float32", DType::kFloat16},
      {"{ y = If(b) <then_branch = t () => (float16[3] u) { u = Abs(x) }, "
       "else_branch = e () => (float16[3] v) { v = Neg(x) }> }",
       "float32", DType::kFloat16},
  };
  for (const auto& row : rows) {
    record::PlanRow planned;
    planned.accumulator = row.claimed;
    const auto model = graph::ModelOfText(
        StrCat("g (float16[3] x, bool b) => (float16[3] y) ", row.model));
    EXPECT_EQ(AccumulatorOf(planned, model->graph(), DType::kFloat16), row.type)
        << row.model;
  }
}

// Kills: a cotangent for indices, a mask or a count.
TEST(CarryingOutputs, AreThoseOfTheCatalogue) {
  const auto flows = [](std::string_view text) {
    return CarryingOutputs(*graph::ModelOfText(text));
  };
  EXPECT_THAT(flows("g (float[3] x, int64[1] k) => (float[1] y, int64[1] i) "
                    "{ y, i = TopK(x, k) }"),
              ElementsAre(true, false));
  EXPECT_THAT(flows("g (float[3] x) => (float[3] y) { y = Floor(x) }"),
              ElementsAre(false));
  EXPECT_THAT(flows("g (float[3] x) => (float[3] y, bool[3] m, float[3] z) "
                    "{ y = Relu(x) m = Greater(x, y) z = Floor(x) }"),
              ElementsAre(true, false, false));
  EXPECT_THAT(flows("g (float[3] x, bool c) => (float[3] y, seq(float[3]) s) "
                    "{ y = If(c) <then_branch = t () => (a) { a = Neg(x) }, "
                    "else_branch = e () => (b) { b = Identity(x) }> "
                    "s = SequenceConstruct(y) }"),
              ElementsAre(true, false));
}

// Kills: a cotangent of one width for all types, that of an output of another
// type than the inputs, and sums of the class exact that a type must round.
TEST(CotangentBits, AreThoseOfTheOutput) {
  const auto bits = [](std::string_view text, InputClass input_class) {
    return CotangentBits(*graph::ModelOfText(text), input_class);
  };
  constexpr std::string_view kTopK =
      "g (double[3] x, int64[1] k) => (double[1] y, int64[1] i) "
      "{ y, i = TopK(x, k) }";
  EXPECT_THAT(bits(kTopK, InputClass::kRedrawn), ElementsAre(30, 0));
  EXPECT_THAT(bits(kTopK, InputClass::kExact), ElementsAre(5, 0));
  EXPECT_THAT(bits("g (float[3] x) => (float16[3] y, bfloat16[3] z, float[3] u)"
                   " { y = Cast<to = 10>(x) z = Cast<to = 16>(x) u = Neg(x) }",
                   InputClass::kOfficial),
              ElementsAre(10, 8, 20));
}

// Kills: a path that is cut, or that leads where there is none. A row has a
// graph of inputs a, b, c, the targets among these, and the outputs that carry.
TEST(Flow, FollowsWhatTheCatalogueNames) {
  const struct {
    const char* what;
    std::string targets, outputs;
    const char* text;
  } rows[] = {
      {"one node", "a", "y", "(float[2] a) => (float[2] y) { y = Relu(a) }"},
      {"a step", "", "", "(float[2] a) => (float[2] y) { y = Floor(a) }"},
      {"a step on the way", "b", "y",
       "(float[2] a, float[2] b) => (float[2] y) "
       "{ f = Floor(a) y = Mul(f, b) }"},
      {"no output behind it", "a", "y",
       "(float[2] a, float[2] b) => (float[2] y) "
       "{ z = Neg(b) i = ArgMax<axis = 0>(z) y = Neg(a) }"},
      {"an output that nothing reaches", "a", "y",
       "(float[2] a) => (float[2] y, float[2] z) "
       "{ z = Constant<value = float[2] {1, 2}>() y = Mul(a, z) }"},
      {"integers", "", "", "(int64[2] a) => (int64[2] y) { y = Neg(a) }"},
      {"an input that is no number of its own", "a", "y",
       "(float[1,1,2] a, float[3] b) => (float[1,1,4] y) "
       "{ c = Neg(b) y = Resize(a, , c) }"},
      {"what a subgraph reads", "ab", "y",
       "(float[2] a, float[2] b, bool c) => (float[2] y) "
       "{ y = If(c) <then_branch = t () => (p) { p = Neg(a) }, "
       "else_branch = e () => (q) { q = Mul(a, b) }> }"},
      {"a sequence", "ab", "y",
       "(float[2] a, float[2] b, int64 c) => (float[2] y) "
       "{ s = SequenceConstruct(a, b) y = SequenceAt(s, c) }"},
      {"an initializer", "ab", "y",
       "(float[2] a) => (float[2] y) <float[2] b = {1, 2}> "
       "{ y = Mul(a, b) }"},
  };
  for (const auto& row : rows) {
    const auto model = graph::ModelOfText(StrCat("g ", row.text));
    const Graph& graph = model->graph();
    const Flow flow(graph);
    std::string targets, outputs;
    for (const char* name : {"a", "b", "c"}) {
      const ValueId id = graph.FindValue(name);
      const bool is_end =
          std::ranges::find(graph.inputs, id) != graph.inputs.end() ||
          graph.FindInitializer(id) != nullptr;
      if (id != kNoValue && is_end && flow.IsTarget(id)) targets += name;
    }
    for (const ValueId id : graph.outputs) {
      if (flow.Carries(id)) outputs += graph[id].name;
    }
    EXPECT_EQ(targets, row.targets) << row.what;
    EXPECT_EQ(outputs, row.outputs) << row.what;
  }
}

}  // namespace
}  // namespace assay::gradcheck
