// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <set>

#include "framework/cli/program_fixture.h"
#include "framework/cli/repro/shrink_named.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/support/statuses_fixture.h"
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
    const auto slice = Got(Slice(tensor, row.axis, row.span));
    EXPECT_EQ(slice.shape(), Shape(row.shape));
    EXPECT_THAT(slice.elements<int16_t>(),
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
  const auto cut = Got(WithSources(draft, sources));
  const Graph& graph = cut.model->graph();
  EXPECT_EQ(ElementCount(cut), 2);
  EXPECT_THAT(graph.initializers[0].value.tensor()->elements<float>(),
              ElementsAre(2));
  EXPECT_EQ(graph.values[graph.inputs[0]].type.ToString(), "float32[1]");
  EXPECT_EQ(graph.values[graph.outputs[0]].type.StaticShape(), std::nullopt);
}

class ShrinkTest : public cli::ProgramTest {
 protected:
  template <class... Parts>
  cli::Ran Shrink(const Parts&... arguments) const {
    return Assay("shrink ", arguments...);
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
        Shrink(row.test_id, " --backend ", row.backend, " --out small");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto json = JsonIn("small/case.json");
    EXPECT_EQ(json.at("test_id"), row.left) << ran.output;
    EXPECT_EQ(json.at("outcome"), row.outcome);
    EXPECT_EQ(json.at("history").at("after"), row.after) << ran.output;
    EXPECT_EQ(json.at("history").at("shrunk from"), row.test_id);
    EXPECT_THAT(ran.output, HasSubstr(StrCat("after:  ", row.after)));
    Assay("run --backend ", row.backend,
          " --corpus ./small --no-report --out again");
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
    const cli::Ran ran = Shrink("'", before, "' --seed ", row.seed,
                                " --backend ", backend, " --out small");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto json = JsonIn("small/case.json");
    EXPECT_EQ(json.at("test_id"), left) << ran.output;
    EXPECT_EQ(json.at("reason_code"), "fail_backward");
    EXPECT_EQ(json.at("history").at("after"), row.after) << ran.output;
    fs::rename(folder_ / "small", folder_ / "moved");
    Assay("run --backend ", backend, " --filter 'id:", left,
          "' --corpus ./moved --seed ", row.seed, " --no-report --out again");
    EXPECT_EQ(Outcomes("again")[left], "fail");
    Assay("run --corpus ./moved --seed ", row.seed, " --no-report --out right");
    EXPECT_EQ(Outcomes("right")[left], "pass") << "on the reference";
    for (const char* folder : {"moved", "again", "right"}) {
      fs::remove_all(folder_ / folder);
    }
  }
}

TEST_F(ShrinkTest, KeepsTheToleranceOfTheCase) {
  ASSERT_THAT(
      Shrink(
          "node/Cast/test_cast_FLOAT_to_BFLOAT16 --backend faulty+mutant=value "
          "--out small"),
      cli::Ended(0));
  const auto corpus = Got(cases::ReadCorpus(folder_ / "small"));
  EXPECT_EQ(corpus.cases.at(0).limit.rtol, 0x1p-6);
  EXPECT_THAT(corpus.cases.at(0).limit.source, HasSubstr("bfloat16"));
}

TEST_F(ShrinkTest, GivesTheSameBytesTwice) {
  for (const char* out : {"one", "two"}) {
    ASSERT_THAT(Shrink("model/pytorch-converted/test_GLU --backend "
                       "faulty+mutant=value --out ",
                       out),
                cli::Ended(0));
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
  const cli::Refusal rows[] = {
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
    EXPECT_THAT(Shrink(row.arguments, " --out small"), cli::Ended(2, row.says))
        << row.arguments;
    EXPECT_FALSE(fs::exists(folder_ / "small"));
  }
}

// An oracle that is wrong in the same way shows nothing: the case then passes.
TEST_F(ShrinkTest, TakesTheOraclesWordForWhatIsRight) {
  const cli::Ran ran = Shrink("node/Abs/test_abs --backend ", ASSAY_MISBEHAVING,
                              " --oracle null --out small");
  EXPECT_THAT(ran.output, HasSubstr("fail (value)"));
  EXPECT_THAT(
      Shrink("node/Abs/test_abs --backend faulty+mutant=zeros --oracle null "
             "--out small"),
      cli::Ended(2, "against the oracle's outputs"));
}

using Values = std::vector<int64_t>;

suite::Extent UpTo(const char* what, int64_t least, int64_t most) {
  suite::Extent extent{what, Values(static_cast<size_t>(most - least + 1))};
  std::iota(extent.values.begin(), extent.values.end(), least);
  return extent;
}

SmallestSizes Shrunk(const std::vector<suite::Extent>& extents,
                     const std::function<bool(const Values&)>& fails,
                     int64_t budget = 1000) {
  const auto ask = [&](const Values& values) -> Result<bool> {
    return fails(values);
  };
  return ShrinkSizes(extents, ask, budget).value();
}

/// Three rounds, and the first and the last question.
int64_t MostAsked(const std::vector<suite::Extent>& extents) {
  int64_t most = 2;
  for (const suite::Extent& each : extents) {
    most += 3 * (4 + std::bit_width(each.values.size() - 1));
  }
  return most;
}

// Kills: a descent that stops at the first half that passes; one that takes the
// elements before the ranks; one round alone.
TEST(ShrinkSizesTest, FindsTheLeastRanksAndThenTheLeastElements) {
  const std::vector<suite::Extent> small = {UpTo("ranks", 1, 8),
                                            UpTo("elements", 0, 61)};
  const std::vector<suite::Extent> large = {UpTo("ranks", 1, 61),
                                            UpTo("elements", 0, 1021)};
  const std::vector<suite::Extent> few = {UpTo("ranks", 1, 8),
                                          UpTo("elements", 0, 5)};
  const struct {
    const char* what;
    const std::vector<suite::Extent>& extents;
    int64_t ranks, elements;  // the smallest
    std::function<bool(const Values&)> fails;
  } rows[] = {
      {"always", large, 1, 0, [](const Values&) { return true; }},
      {"at 3 ranks and 5 elements or more", small, 3, 5,
       [](const Values& v) { return v[0] >= 3 && v[1] >= 5; }},
      {"beyond a few of either", large, 38, 777,
       [](const Values& v) { return v[0] >= 38 && v[1] >= 777; }},
      {"as it is alone", large, 61, 1021,
       [](const Values& v) {
         return v == Values({61, 1021});
       }},
      {"at ranks that are no power of two", small, 3, 0,
       [](const Values& v) { return (v[0] & (v[0] - 1)) != 0 || v[0] == 8; }},
      {"where elements do not divide by the ranks", small, 2, 1,
       [](const Values& v) { return v[1] % v[0] != 0; }},
      {"with fewer elements than ranks", few, 1, 0,
       [](const Values& v) { return v[1] < v[0]; }},
      {"with many of both together", small, 2, 50,
       [](const Values& v) { return v[0] * v[1] >= 100; }},
  };
  for (const auto& row : rows) {
    std::set<Values> asked;
    const SmallestSizes found = Shrunk(row.extents, [&](const Values& values) {
      asked.insert(values);
      return row.fails(values);
    });
    EXPECT_THAT(found.values, ElementsAre(row.ranks, row.elements)) << row.what;
    EXPECT_TRUE(found.steady) << row.what;
    EXPECT_FALSE(found.spent) << row.what;
    EXPECT_LE(found.asked, MostAsked(row.extents)) << row.what;
    // The last values are asked about twice, and all others once.
    EXPECT_EQ(found.asked, static_cast<int64_t>(asked.size()) + 1) << row.what;
  }
}

TEST(ShrinkSizesTest, TakesNoValuesThatThereAreNot) {
  const std::vector<suite::Extent> powers = {{"ranks", {1, 2, 4, 8, 16}}};
  EXPECT_THAT(Shrunk(powers, [](const Values& v) { return v[0] >= 3; }).values,
              ElementsAre(4));
  EXPECT_THAT(Shrunk(powers, [](const Values& v) { return v[0] > 8; }).values,
              ElementsAre(16));
  const std::vector<suite::Extent> one = {{"ranks", {1}}, {"elements", {0}}};
  const SmallestSizes found = Shrunk(one, [](const Values&) { return true; });
  EXPECT_THAT(found.values, ElementsAre(1, 0));
  EXPECT_EQ(found.asked, 2);
}

// Where values fail on both sides of some that pass, the search finds one side,
// and the value before the one that it finds passes.
TEST(ShrinkSizesTest, EndsWhereOneLessPasses) {
  const std::vector<suite::Extent> extents = {UpTo("elements", 0, 100)};
  for (int64_t hole = 5; hole < 100; ++hole) {
    const auto fails = [&](const Values& v) {
      return v[0] >= 4 && v[0] != hole;
    };
    const int64_t found = Shrunk(extents, fails).values[0];
    EXPECT_TRUE(fails({found})) << hole;
    EXPECT_FALSE(fails({found - 1})) << hole;
  }
}

// Kills: a case that fails once and is said to fail; one that passes at its
// smallest.
TEST(ShrinkSizesTest, SaysOfACaseThatItFailsAtTimes) {
  const std::vector<suite::Extent> extents = {UpTo("ranks", 1, 8),
                                              UpTo("elements", 0, 61)};
  const SmallestSizes never =
      Shrunk(extents, [](const Values&) { return false; });
  EXPECT_FALSE(never.steady);
  EXPECT_EQ(never.asked, 1);
  EXPECT_THAT(never.values, ElementsAre(8, 61));
  int times = 0;
  const SmallestSizes once =
      Shrunk(extents, [&](const Values&) { return ++times == 1; });
  EXPECT_FALSE(once.steady);
  EXPECT_GT(once.asked, 1);
  EXPECT_THAT(once.values, ElementsAre(8, 61));
  std::set<Values> before;
  const SmallestSizes first = Shrunk(extents, [&](const Values& values) {
    return before.insert(values).second && values[0] >= 2;
  });
  EXPECT_FALSE(first.steady);
  EXPECT_THAT(first.values, ElementsAre(2, 0));
}

TEST(ShrinkSizesTest, StopsAtItsBudgetAndAtAnError) {
  const std::vector<suite::Extent> extents = {UpTo("ranks", 1, 61),
                                              UpTo("elements", 0, 1021)};
  const SmallestSizes found = Shrunk(
      extents, [](const Values& v) { return v[0] >= 20; }, /*budget=*/7);
  EXPECT_TRUE(found.spent);
  EXPECT_TRUE(found.steady);
  EXPECT_EQ(found.asked, 7);
  // As it is, with 1 to 4 ranks, with the half of all, and that once more.
  EXPECT_THAT(found.values, ElementsAre(32, 1021));
  const auto stopped = ShrinkSizes(
      extents,
      [](const Values&) -> Result<bool> { return Cancelled("stopped"); },
      /*budget=*/7);
  EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);
}

// Kills: another reason, or what is not supported, that is taken for the same
// fail.
TEST(FailsAsTest, TheSameFailHasTheSameOutcomeAndReason) {
  const auto result = [](record::Outcome outcome, const char* reason) {
    record::ResultRow row;
    row.outcome = outcome;
    row.reason_code = reason;
    return row;
  };
  using enum record::Outcome;
  const record::ResultRow wanted = result(kFail, "fail_bits");
  const struct {
    record::Outcome outcome;
    const char* reason;
    bool is_same;
  } rows[] = {
      {kFail, "fail_bits", true},
      {kFail, "fail_cost", false},
      {kFail, "", false},
      {kUnsupported, "operator", false},
      {kUnsupported, "shape", false},
      {kUnsupported, "fail_bits", false},
      {kError, "fail_bits", false},
      {kPass, "", false},
      {kMissing, "fail_bits", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(FailsAs(result(row.outcome, row.reason), wanted), row.is_same)
        << ToString(row.outcome) << " " << row.reason;
  }
}

}  // namespace
}  // namespace assay::repro
