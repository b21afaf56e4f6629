// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/cli/program_fixture.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::repro {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Slice, TakesPartOfAnAxis) {
  const Tensor tensor = *Tensor::Of<int16_t>(
      {2, 3, 2}, std::vector<int16_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const struct {
    int axis;
    Span span;
    std::vector<int64_t> shape;
    std::vector<int16_t> elements;
  } rows[] = {
      {0, {1, 1}, {1, 3, 2}, {6, 7, 8, 9, 10, 11}},
      {1, {0, 1}, {2, 1, 2}, {0, 1, 6, 7}},
      {1, {1, 2}, {2, 2, 2}, {2, 3, 4, 5, 8, 9, 10, 11}},
      {2, {1, 1}, {2, 3, 1}, {1, 3, 5, 7, 9, 11}},
  };
  for (const auto& row : rows) {
    const auto slice = Slice(tensor, row.axis, row.span);
    ASSERT_TRUE(slice.ok()) << slice.status().ToString();
    EXPECT_EQ(slice->shape(), Shape(row.shape));
    EXPECT_THAT(slice->elements<int16_t>(),
                testing::ElementsAreArray(row.elements));
  }
  const Tensor words = Strings({"a", "b", "c"});
  EXPECT_THAT(Slice(words, 0, {1, 2})->strings(), ElementsAre("b", "c"));
  EXPECT_FALSE(Slice(*Tensor::Allocate(DType::kInt4, {4}), 0, {0, 2}).ok());
}

TEST(WithSources, GivesTheModelOtherInputsAndInitializers) {
  const auto model = graph::ModelOfText(
      "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
  const Tensor two = Floats({3, 4});
  const Draft draft{model, {two}, {}};
  std::vector<Source> sources = SourcesOf(draft);
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources[0].name + sources[1].name, "xw");
  EXPECT_EQ(ElementCount(draft), 4);
  for (Source& source : sources) {
    source.value = *Slice(*source.value.tensor(), 0, {1, 1});
  }
  const auto cut = WithSources(draft, sources);
  ASSERT_TRUE(cut.ok()) << cut.status().ToString();
  const Graph& graph = cut->model->graph();
  EXPECT_EQ(ElementCount(*cut), 2);
  EXPECT_THAT(graph.initializers[0].value.tensor()->elements<float>(),
              ElementsAre(2));
  EXPECT_EQ(graph.values[graph.inputs[0]].type.ToString(), "float32[1]");
  EXPECT_EQ(graph.values[graph.outputs[0]].type.StaticShape(), std::nullopt);
}

class ShrinkTest : public cli::ProgramTest {
 protected:
  cli::Ran Shrink(const std::string& arguments) const {
    return Assay("shrink " + arguments);
  }

  nlohmann::json CaseJson(const std::string& capsule) const {
    const auto text = file::ReadFile(folder_ / capsule / "case.json");
    return text.ok() ? nlohmann::json::parse(*text) : nlohmann::json();
  }
};

TEST_F(ShrinkTest, LeavesTheSmallestCaseThatFailsInTheSameWay) {
  const struct {
    const char* test_id;
    std::string backend;
    const char* left;  // test_id
    const char* after;
    const char* outcome;
  } rows[] = {
      // Shapes: every axis to one entry, every value to zero.
      {"node/Abs/test_abs", "faulty+mutant=value", "node/Abs/test_abs#shrunk",
       "1 node, 1 elements", "fail"},
      // Axes that belong together are cut together.
      {"node/MatMul/test_matmul_4d", "faulty+mutant=dtype",
       "node/MatMul/test_matmul_4d#shrunk", "1 node, 2 elements", "fail"},
      // The first of 105 nodes goes wrong.
      {"model/light/test_squeezenet", "faulty+mutant=value",
       "node/ConstantOfShape/test_squeezenet#shrunk", "1 node, 1 elements",
       "fail"},
      // The node that goes wrong is the last of Split, Sigmoid and Mul.
      {"model/pytorch-converted/test_GLU",
       StrCat(ASSAY_MISBEHAVING, "+crash=Mul"), "node/Mul/test_GLU#shrunk",
       "1 node, 2 elements", "crash"},
      {"model/pytorch-converted/test_GLU",
       StrCat(ASSAY_MISBEHAVING, "+decline=Mul"), "node/Mul/test_GLU#shrunk",
       "1 node, 2 elements", "unsupported"},
  };
  for (const auto& row : rows) {
    const cli::Ran ran =
        Shrink(StrCat(row.test_id, " --backend ", row.backend, " --out small"));
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto json = CaseJson("small");
    EXPECT_EQ(json.at("test_id"), row.left) << ran.output;
    EXPECT_EQ(json.at("outcome"), row.outcome);
    EXPECT_EQ(json.at("history").at("after"), row.after) << ran.output;
    EXPECT_EQ(json.at("history").at("shrunk from"), row.test_id);
    EXPECT_THAT(ran.output, HasSubstr(StrCat("after:  ", row.after)));
    Assay(StrCat("run --backend ", row.backend,
                 " --corpus ./small --no-report --out again"));
    EXPECT_EQ(Outcomes("again")[row.left], row.outcome);
    fs::remove_all(folder_ / "small");
    fs::remove_all(folder_ / "again");
  }
}

// Kills: targets, outputs or attributes that stay; a case that fails by its old
// id alone; one whose inputs are drawn anew when it runs elsewhere.
TEST_F(ShrinkTest, MakesAGradientCaseSmall) {
  const struct {
    const char* mutant;
    const char* op;
    const char* name;
    const char* variant;
    int seed;
    const char* after;
  } rows[] = {
      {"sign:Conv.1", "Conv", "test_basic_conv_with_padding",
       "#redrawn.float64", 7,
       "1 node, 2 elements, 0 attributes, 1 output, 1 target"},
      {"sign:TopK.0", "TopK", "test_top_k", "#redrawn.float32", 7,
       "1 node, 2 elements, 0 attributes, 1 output, 1 target"},
      // Gates are four times the state, and are cut with it.
      {"sign:LSTM.2", "LSTM", "test_lstm_with_peepholes", "#redrawn.float32", 0,
       "1 node, 23 elements, 0 attributes, 1 output, 1 target"},
      // The two that are tied belong together.
      {"tied_have_all:Max.1", "Max", "test_max_float16", "#kinks.float16", 0,
       "1 node, 2 elements, 0 attributes, 1 output, 2 targets"},
  };
  for (const auto& row : rows) {
    const std::string before =
        StrCat("gradcheck/", row.op, "/", row.name, row.variant);
    const std::string left =
        StrCat("gradcheck/", row.op, "/", row.name, "-shrunk", row.variant);
    const std::string backend = StrCat("faulty+mutant=gradient:", row.mutant);
    const cli::Ran ran = Shrink(StrCat("'", before, "' --seed ", row.seed,
                                       " --backend ", backend, " --out small"));
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto json = CaseJson("small");
    EXPECT_EQ(json.at("test_id"), left) << ran.output;
    EXPECT_EQ(json.at("reason_code"), "fail_backward");
    EXPECT_EQ(json.at("history").at("after"), row.after) << ran.output;
    fs::rename(folder_ / "small", folder_ / "moved");
    Assay(StrCat("run --backend ", backend, " --filter 'id:", left,
                 "' --corpus ./moved --seed ", row.seed,
                 " --no-report --out again"));
    EXPECT_EQ(Outcomes("again")[left], "fail");
    Assay(StrCat("run --corpus ./moved --seed ", row.seed,
                 " --no-report --out right"));
    EXPECT_EQ(Outcomes("right")[left], "pass") << "on the reference";
    for (const char* folder : {"moved", "again", "right"}) {
      fs::remove_all(folder_ / folder);
    }
  }
}

TEST_F(ShrinkTest, KeepsTheToleranceOfTheCase) {
  const cli::Ran ran = Shrink(
      "node/Cast/test_cast_FLOAT_to_BFLOAT16 --backend faulty+mutant=value "
      "--out small");
  ASSERT_EQ(ran.exit_code, 0) << ran.output;
  const auto corpus = cases::ReadCorpus(folder_ / "small");
  ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
  EXPECT_EQ(corpus->cases.at(0).limit.rtol, 0x1p-6);
  EXPECT_THAT(corpus->cases.at(0).limit.source, HasSubstr("bfloat16"));
}

TEST_F(ShrinkTest, GivesTheSameBytesTwice) {
  for (const char* out : {"one", "two"}) {
    const cli::Ran ran =
        Shrink(StrCat("model/pytorch-converted/test_GLU --backend "
                      "faulty+mutant=value --out ",
                      out));
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
  }
  const cli::Ran differ = Shell("diff -r one two");
  EXPECT_EQ(differ.exit_code, 0) << differ.output;
  EXPECT_THAT(differ.output, IsEmpty());
}

TEST_F(ShrinkTest, StopsAtItsBudget) {
  const cli::Ran ran = Shrink(
      "node/Abs/test_abs --backend faulty+mutant=value --budget 3 --out small");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the budget is spent"));
  EXPECT_THAT(ran.output, Not(HasSubstr("1 node, 1 elements")));
}

TEST_F(ShrinkTest, SaysWhyThereIsNothingToShrink) {
  const struct {
    const char* arguments;
    const char* says;
  } rows[] = {
      {"node/Abs/test_abs --backend faulty", "is pass when it runs alone"},
      {"node/Abs/test_abs --backend reference", "wanted another backend"},
      {"node/Abs/test_abs --backend faulty+mutant=value --oracle "
       "faulty+mutant=value",
       "wanted another backend"},
      {"node/Bernoulli/test_bernoulli --backend faulty+mutant=zeros",
       "judged by its distribution"},
      {"node/Abs/none --backend faulty", "the nearest are"},
      {"'gradcheck/Abs/test_abs#redrawn.float32' --backend faulty",
       "is pass when it runs alone"},
      {"'gradcheck/Abs/test_abs#redrawn.float99' --backend faulty",
       "the nearest are gradcheck/Abs/test_abs#"},
      {"'gradcheck/Abs/test_abs#redrawn.float32' --backend faulty --oracle "
       "null",
       "the oracle null has no exact answers to gradcheck/Abs/test_abs#"},
  };
  for (const auto& row : rows) {
    const cli::Ran ran = Shrink(StrCat(row.arguments, " --out small"));
    EXPECT_EQ(ran.exit_code, 2) << row.arguments << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.arguments;
    EXPECT_FALSE(fs::exists(folder_ / "small"));
  }
}

// An oracle that is wrong in the same way shows nothing: the case then passes.
TEST_F(ShrinkTest, TakesTheOraclesWordForWhatIsRight) {
  const cli::Ran ran =
      Shrink(StrCat("node/Abs/test_abs --backend ", ASSAY_MISBEHAVING,
                    " --oracle null --out small"));
  EXPECT_THAT(ran.output, HasSubstr("fail (value)"));
  const cli::Ran same = Shrink(
      "node/Abs/test_abs --backend faulty+mutant=zeros --oracle null "
      "--out small");
  EXPECT_EQ(same.exit_code, 2) << same.output;
  EXPECT_THAT(same.output, HasSubstr("against the oracle's outputs"));
}

}  // namespace
}  // namespace assay::repro
