// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/testing/measure/measure.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "perf/problems/inputs.h"
#include "perf/problems/make_problem.h"
#include "perf/problems/problem_fixture.h"

namespace assay::problems {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

constexpr char kConv[] =
    "conv: set times w h c n k s r pad_w pad_h stride_w stride_h group\na 1 ";
constexpr char kLayer[] = "recurrent: set times cell hidden batch steps\na 1 ";

std::vector<Value> OutputsOf(const Problem& problem,
                             const std::vector<Value>& inputs) {
  const auto seen =
      measure::Run(Reference(), Got(MakeProblem(problem)).model, inputs, {});
  EXPECT_TRUE(seen.status.ok()) << seen.status.ToString();
  return seen.outputs;
}

// Kills: a row of one factor and a column of another place, an image, a filter,
// a group or a window that is another one's, a zero beside the image that is a
// number of it, a step or a text that is another.
TEST(CutOf, GivesElementsOfTheWhole) {
  for (const std::string& text : {
           std::string("gemm: set times m n k a b\na 1 20 30 7 n t"),
           std::string("gemm: set times m n k a b\na 1 30 2 9 t n"),
           kConv + std::string("9 7 6 3 8 3 2 1 1 2 1 2"),
           kConv + std::string("5 6 4 1 4 3 5 2 2 1 3 4"),
           kConv + std::string("4 1 2 2 9 4 1 0 0 1 1 1"),
           kLayer + std::string("vanilla 5 3 4"),
           kLayer + std::string("lstm 5 3 1"),
           kLayer + std::string("gru 5 1 3"),
       }) {
    const Problem problem = FirstOf(text);
    const auto inputs = Got(DrawInputs(problem, Got(MakeProblem(problem)), 1));
    const auto outputs = OutputsOf(problem, inputs);
    for (int set = 0; set < 4; ++set) {
      const auto cut = CutOf(problem, set, 7);
      ASSERT_TRUE(cut.has_value()) << text;
      const auto of_part =
          OutputsOf(cut->problem, Got(TakenOf(inputs, cut->inputs)));
      const auto part = Got(TakenOf(outputs, cut->outputs));
      const auto drawn =
          Got(DrawAt(problem, Got(MakeProblem(problem)), 1, cut->inputs));
      for (size_t i = 0; i < drawn.size(); ++i) {
        EXPECT_EQ(FloatsOf(drawn[i]),
                  FloatsOf(Got(TakenOf(inputs, cut->inputs))[i]));
      }
      ASSERT_EQ(part.size(), 1);
      EXPECT_EQ(part[0].tensor()->shape(), of_part[0].tensor()->shape());
      EXPECT_THAT(FloatsOf(part[0]),
                  Pointwise(FloatNear(1e-5F), FloatsOf(of_part[0])))
          << text << " set " << set;
    }
  }
}

// Kills: cuts that always look at the same elements, or never at the last.
TEST(CutOf, LooksAtBothEndsAndBetween) {
  const auto rows = [](int set, uint64_t key) {
    return CutOf(FirstOf("gemm: set times m n k a b\na 1 100 100 7 n n"), set,
                 key)
        ->outputs[0][0];
  };
  EXPECT_EQ(rows(0, 1).size(), 8);
  EXPECT_EQ(rows(0, 1).front(), 0);
  EXPECT_EQ(rows(0, 1).back(), 99);
  EXPECT_NE(rows(0, 1), rows(1, 1));
  EXPECT_NE(rows(0, 1), rows(0, 2));
  EXPECT_EQ(rows(2, 2), rows(2, 2));
  const auto window = [](int set) {
    return CutOf(FirstOf(kConv + std::string("90 7 6 3 8 3 2 1 1 1 1 1")), set,
                 3)
        ->outputs[0][3];
  };
  EXPECT_THAT(window(0), ElementsAre(0, 1));
  EXPECT_THAT(window(1), ElementsAre(88, 89));
}

// Kills: a part that takes an oracle as long as the whole.
TEST(CutOf, TakesNoMoreThanAnOracleCan) {
  const auto needs = [](const std::string& text) {
    return Got(NeedsOf(CutOf(FirstOf(text), 0, 1)->problem)).work.flops;
  };
  EXPECT_LE(needs("gemm: set times m n k a b\na 1 512 8 500000 n n"),
            2 * kMostProducts);
  EXPECT_FALSE(CutOf(FirstOf(kLayer + std::string("lstm 2816 32 1500")), 0, 1)
                   .has_value());
  const std::string graph = "graph: set times name model\na 1 x ($T[";
  EXPECT_TRUE(CutOf(FirstOf(graph + "9] x) => ($T[9] y) { y = Relu(x) }"), 0, 1)
                  .has_value());
  EXPECT_FALSE(
      CutOf(FirstOf(graph + "9999999] x) => ($T[9999999] y) { y = Relu(x) }"),
            0, 1)
          .has_value());
}

// Kills: memory beyond a tensor's, read for a place that it lacks.
TEST(Taken, AreThePlacesOfEachAxis) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(FloatsOf(Got(Taken(x, {{1, 0}, {2, kZero, 0}}))),
              ElementsAre(6, 0, 4, 3, 0, 1));
  EXPECT_THAT(FloatsOf(Got(Taken(x, {{kZero}, {0, 1}}))), ElementsAre(0, 0));
  EXPECT_THAT(Got(Taken(x, {})).shape(), Shape({2, 3}));
  EXPECT_THAT(Taken(x, {{1}, {3}}),
              IsStatus(StatusCode::kInvalidArgument,
                       "found float32[2,3], wanted its place 3 on axis 1"));
  EXPECT_THAT(Taken(x, {{1}}), Says("found float32[2,3], wanted 1 axes"));
  EXPECT_THAT(TakenOf(std::vector<Value>{x}, {}),
              Says("found 1 values, wanted 0"));
}

// Kills: weights that make a state grow without end, a row that no table has,
// numbers that are the same for each key.
TEST(DrawInputs, AreNumbersThatAModelTakes) {
  const auto drawn = [](const std::string& text, uint64_t key) {
    const Problem problem = FirstOf(text);
    return Got(DrawInputs(problem, Got(MakeProblem(problem)), key));
  };
  const std::string gemm = "gemm: set times m n k a b\na 1 2 3 4 n n";
  EXPECT_EQ(FloatsOf(drawn(gemm, 1)[0]), FloatsOf(drawn(gemm, 1)[0]));
  EXPECT_NE(FloatsOf(drawn(gemm, 1)[0]), FloatsOf(drawn(gemm, 2)[0]));
  for (const float x :
       FloatsOf(drawn(kLayer + std::string("lstm 100 1 1"), 1)[1])) {
    EXPECT_LE(std::abs(x), 0.1F);
  }
  const auto gather = drawn(
      "graph: set times name model\na 1 x ($T[3,2] w, int64[100] i) => "
      "($T[100,2] y) { y = Gather(w, i) }",
      1);
  for (const int64_t row : gather[1].tensor()->elements<int64_t>()) {
    EXPECT_GE(row, 0);
    EXPECT_LT(row, 3);
  }
}

}  // namespace
}  // namespace assay::problems
