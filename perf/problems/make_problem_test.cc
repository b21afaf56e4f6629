// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/make_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "framework/testing/support/statuses_fixture.h"
#include "perf/problems/fate.h"
#include "perf/problems/known_problems.h"
#include "perf/problems/problem_fixture.h"

namespace assay::problems {
namespace {

using testing::ElementsAre;

Problem GemmOf(const std::string& numbers) {
  return FirstOf("gemm: set times m n k a b\na 1 " + numbers);
}

std::vector<std::string> InputsOf(const Problem& problem,
                                  DType type = DType::kFloat32) {
  std::vector<std::string> texts;
  for (const ValueType& input : Got(MakeProblem(problem, type)).inputs) {
    texts.push_back(input.ToString());
  }
  return texts;
}

// Kills: extents in another order, a transposition that is not one, a type that
// is always float32.
TEST(MakeProblem, InputsHaveTheShapesOfTheRow) {
  EXPECT_THAT(InputsOf(GemmOf("2 3 4 n n")),
              ElementsAre("float32[2,4]", "float32[4,3]"));
  EXPECT_THAT(InputsOf(GemmOf("2 3 4 t t"), DType::kBFloat16),
              ElementsAre("bfloat16[4,2]", "bfloat16[3,4]"));
  const Problem conv = FirstOf(
      "conv: set times w h c n k s r pad_w pad_h stride_w stride_h group\n"
      "a 1 70 16 4 3 8 5 6 1 2 3 7 2");
  EXPECT_THAT(InputsOf(conv),
              ElementsAre("float32[3,4,16,70]", "float32[8,2,6,5]"));
  EXPECT_THAT(InputsOf(FirstOf("recurrent: set times cell hidden batch steps\n"
                               "a 1 lstm 7 8 9")),
              ElementsAre("float32[9,8,7]", "float32[1,28,7]",
                          "float32[1,28,7]", "float32[1,56]"));
  EXPECT_THAT(
      InputsOf(
          FirstOf("graph: set times name model\n"
                  "a 1 x ($T[2] x, int64[1] i) => ($T[1] y) { y = Gather(x, i) "
                  "}"),
          DType::kFloat64),
      ElementsAre("float64[2]", "int64[1]"));
}

// Kills: a model for a problem that ONNX cannot state, an error without place.
TEST(MakeProblem, SaysWhatItCannotMake) {
  const Problem sparse =
      FirstOf("sparse: set times m n k a b density\na 1 2 3 4 n n 0.05");
  EXPECT_THAT(MakeProblem(sparse),
              IsStatus(StatusCode::kUnsupported,
                       "a.sparse.m2n3k4nnd0.05: no operator of ONNX takes a "
                       "matrix of which 0.05 is there"));
  EXPECT_EQ(DenseOf(sparse).name, "a.sparse.m2n3k4nnd0.05.dense");
  EXPECT_THAT(InputsOf(DenseOf(sparse)),
              ElementsAre("float32[2,4]", "float32[4,3]"));
  EXPECT_THAT(MakeProblem(FirstOf("all_reduce: set times elements\na 1 100")),
              IsStatus(StatusCode::kUnsupported,
                       "an all-reduce of 100 elements is a collective"));
  EXPECT_THAT(MakeProblem(GemmOf("2 3 4 n n"), DType::kInt8),
              IsStatus(StatusCode::kUnsupported, "int8, wanted float32"));
  const std::string graph = "graph: set times name model\na 1 x ";
  EXPECT_THAT(MakeProblem(FirstOf(graph + "($T[2] x) =>")),
              IsStatus(StatusCode::kInvalidArgument, "f:2"));
  EXPECT_THAT(
      MakeProblem(FirstOf(graph + "($T[n] x) => ($T[n] y) { y = Relu(x) }")),
      IsStatus(StatusCode::kInvalidArgument, "f:2: input x is float32[n]"));
}

// Kills: a value that takes no memory, work of another problem.
TEST(NeedsOf, CountsAllValuesAndTheWorkOfARun) {
  const Needs needs = Got(NeedsOf(GemmOf("2 3 4 n n")));
  EXPECT_EQ(needs.bytes, 4 * (8 + 12 + 6));
  EXPECT_EQ(needs.work.flops, 48);
  EXPECT_EQ(Got(NeedsOf(GemmOf("2 3 4 n n"), DType::kFloat64)).bytes,
            8 * (8 + 12 + 6));
  EXPECT_EQ(
      Got(NeedsOf(FirstOf("graph: set times name model\na 1 x"
                          " ($T[9] x) => ($T[9] y) { h = Exp(x) y = Abs(h) }")))
          .bytes,
      4 * 27);
}

// Kills: pads or strides of the other axis, filters of height for width.
TEST(NeedsOf, CountsAConvolutionByItsAxes) {
  const auto work = [](const std::string& row) {
    return Got(NeedsOf(
                   FirstOf("conv: set times w h c n k s r pad_w pad_h stride_w "
                           "stride_h group\na 1 " +
                           row)))
        .work;
  };
  // 5 places of 3 taps along w, of which 13 are inside, and 3 along h.
  EXPECT_EQ(work("5 3 1 1 1 3 1 1 0 1 1 1").flops, 2 * 13 * 3);
  EXPECT_EQ(work("5 3 1 1 1 3 1 1 0 1 1 1").on_padding, 2 * 2 * 3);
  // 2 places of 3 along w, 3 of 1 along h.
  EXPECT_EQ(work("5 3 1 1 1 3 1 0 0 2 1 1").flops, 2 * 6 * 3);
  EXPECT_EQ(work("5 3 4 1 4 3 1 0 0 2 1 4").flops, 4 * 2 * 6 * 3);
}

/// Sums by kind and set: operations, with those on pads apart.
struct Sum {
  double flops = 0;
  double on_padding = 0;
};
std::map<std::string, Sum> SumsOfSets() {
  std::map<std::string, Sum> sums;
  for (const Problem& problem : KnownProblems()) {
    const auto needs = NeedsOf(problem);
    if (needs.status().code() == StatusCode::kUnsupported) continue;
    EXPECT_TRUE(needs.ok()) << needs.status().ToString();
    const std::string rest = problem.name.substr(problem.set.size() + 1);
    Sum& sum = sums[problem.set.substr(0, problem.set.find('.')) + "." +
                    rest.substr(0, rest.find('.'))];
    const auto times = static_cast<double>(problem.times);
    sum.flops += times * needs->work.flops;
    sum.on_padding += times * needs->work.on_padding;
  }
  return sums;
}

// The sums of DeepBench are those that a script of its own took from its
// headers by the formulas of its sheets. Kills: a row that was copied wrong.
TEST(Sets, DoAsManyOperationsAsTheirSourcesSay) {
  std::map<std::string, Sum> sums = SumsOfSets();
  EXPECT_EQ(sums["deepbench.gemm"].flops, 28'532'714'000'000);
  EXPECT_EQ(sums["deepbench.conv"].flops, 627'596'996'096);
  EXPECT_EQ(sums["deepbench.conv"].flops + sums["deepbench.conv"].on_padding,
            651'214'640'384);
  // The products of the recurrence and of the input, the cells apart.
  EXPECT_NEAR(sums["deepbench.recurrent"].flops / (2 * 16'293'082'693'632.0), 1,
              0.004);
  const auto macs = [&sums](const std::string& set) {
    const Sum conv = sums[set + ".conv"];
    return (conv.flops + conv.on_padding + sums[set + ".gemm"].flops) / 2;
  };
  // torchvision: 4.089 G; the paper of MobileNet, table 4: 569 M; Llama 3 8B:
  // its parameters less those of words and normalisations.
  EXPECT_EQ(macs("resnet50"), 4'089'184'256);
  EXPECT_NEAR(macs("mobilenet_v1"), 569e6, 5e5);
  EXPECT_EQ(macs("llama3_8b"), 8'030'261'248 - 525'336'576 - 65 * 4096);
  // Z. Sun et al., arXiv 2004.02984, table 4: 22.5 G at 128 tokens.
  EXPECT_NEAR(2 * macs("bert_base") + sums["bert_base.graph"].flops, 22.5e9,
              0.15e9);
}

// Kills: a fate that nothing has, one that is counted twice, a limit that is
// not looked at.
TEST(FateOf, EveryProblemOfDeepBenchHasOne) {
  const Limits limits = {.bytes = 2e9,
                         .seconds = 1,
                         .flops_per_second = 1e11,
                         .bytes_per_second = 1e10};
  Tally tally;
  for (const Problem& problem : KnownProblems()) {
    if (!problem.set.starts_with("deepbench.")) continue;
    tally.Add(Got(FateOf(NeedsOf(problem), limits)));
  }
  EXPECT_EQ(tally.total(), 630) << tally.ToString();
  RecordProperty("tally", tally.ToString());
  EXPECT_EQ(tally[Fate::kDeclined], 32 + 7);
  EXPECT_GT(tally[Fate::kTimed], 300);
  EXPECT_GT(tally[Fate::kTooMuchMemory], 0);
  EXPECT_GT(tally[Fate::kTooMuchTime], 0);
}

TEST(FateOf, IsByTheLimitThatIsPassed) {
  const Needs needs = {1000, {.flops = 500, .bytes_read = 100}};
  const Limits wide = {1000, 5, 100, 20};
  const auto fate = [&needs](const Limits& limits) {
    return Got(FateOf(needs, limits));
  };
  EXPECT_EQ(LeastSeconds(needs.work, wide), 5);
  EXPECT_EQ(fate(wide), Fate::kTimed);
  EXPECT_EQ(fate({999, 5, 100, 20}), Fate::kTooMuchMemory);
  EXPECT_EQ(fate({1000, 4, 100, 20}), Fate::kTooMuchTime);
  EXPECT_EQ(fate({1000, 5, 1000, 10}), Fate::kTooMuchTime);
  EXPECT_EQ(Got(FateOf(Unsupported(Reason::kOperator, "no"), wide)),
            Fate::kDeclined);
  EXPECT_THAT(FateOf(InvalidArgument("f:2"), wide), Says("f:2"));
  Tally tally;
  for (const Fate each :
       {Fate::kTimed, Fate::kTimed, Fate::kDeclined, Fate::kTooMuchMemory,
        Fate::kTooMuchTime, Fate::kFailed}) {
    tally.Add(each);
    EXPECT_EQ(FateNamed(ToString(each)), each);
  }
  EXPECT_EQ(FateNamed("lost"), std::nullopt);
  EXPECT_EQ(tally.ToString(),
            "timed 2, declined 1, too big by memory 1, too big by time 1, "
            "failed 1: 6");
}

}  // namespace
}  // namespace assay::problems
