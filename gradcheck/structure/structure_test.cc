// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"
#include "gradcheck/structure/batch.h"
#include "gradcheck/structure/jacobian.h"
#include "gradcheck/structure/network_fixture.h"

namespace assay::gradcheck {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kLimit = 1e-5;

// A table of losses has rows that belong together with labels.
constexpr char kModel[] =
    "g (float[2,3] x, int64[2] s) => (float[2,3] y) "
    "{ y = SoftmaxCrossEntropyLoss<reduction = \"none\">(x, s) }";

/// What a check says of a backend of that defect.
template <class Check>
std::string Checked(SquareDefects defects, Check&& check) {
  SquareBackend backend(defects);
  suite::Subject subject;
  subject.model = graph::ModelOfText(kModel);
  subject.inputs = {{Floats({2, 3}, {1, -2, 0.5, 3, -1, 2}), Int64s({1, 3})}};
  subject.targets = {"x"};
  auto trial = Trial::Load(backend, subject);
  EXPECT_TRUE(trial.ok()) << trial.status().ToString();
  EXPECT_TRUE(trial->Forward().ok());
  const std::vector<Value> dy = {Doubles({2, 3}, {1, 1.5, -1, 2, -1.25, 1})};
  const auto gradients = trial->Backward(dy, trial->targets());
  EXPECT_TRUE(gradients.ok()) << gradients.status().ToString();
  Compared compared;
  compared.limits.assign(6, kLimit);
  const std::string fault =
      check(*trial,
            Judged{trial->targets(), dy, *gradients, std::span(&compared, 1)});
  EXPECT_EQ(trial->Damage(), "");
  return fault;
}

std::string FaultOf(SquareDefects defects) {
  return Checked(defects, [](Trial& trial, const Judged& judged) {
    const auto found = StructureOf(trial, judged);
    return found.ok() ? found->fault : found.status().ToString();
  });
}

TEST(Structure, OfARightBackendHolds) {
  EXPECT_EQ(FaultOf({}), "");
  EXPECT_EQ(FaultOf({.declines_unread = true}), "");
  EXPECT_EQ(FaultOf({.declines_two = true}), "");
  EXPECT_EQ(FaultOf({.declines_bound = true}), "");
}

TEST(Structure, TellsWhatDoesNotHold) {
  struct Row {
    SquareDefects defects;
    const char* fault;
  };
  const Row rows[] = {
      {{.adds_one = true}, "cotangents of zeros give 1 at element 0"},
      {{.one_reader = true},
       "where each input is read by two nodes, element 0"},
      {{.one_reader = true, .declines_unread = true}, "is read by two nodes"},
      {{.unread_ones = true}, "that no node reads is 1, wanted 0"},
      {{.other_shape = true}, "that no node reads is float32[1], wanted"},
      {{.by_place = true}, "the examples of the batch in reverse order"},
      {{.of_first = true}, "the examples of the batch in reverse order"},
      {{.keeps_cotangents = true}, "bound before the last forward, element"},
      {{.keeps_inputs = true}, "bound before the last forward, element"},
      {{.adds = true}, "bound before the last forward, element 0"},
      {{.leaves_last = true}, "bound before the last forward, element 5"},
      {{.beyond = true}, "a bound backward wrote 4 bytes behind its end"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(FaultOf(row.defects), HasSubstr(row.fault)) << row.fault;
  }
}

// Kills: a row that is left out, or counts for another cotangent.
TEST(Jacobian, SumsToTheGradient) {
  const auto fault_of = [](SquareDefects defects) {
    return Checked(defects, [](Trial& trial, const Judged& judged) {
      const auto fault = JacobianFault(trial, judged);
      return fault.ok() ? fault->value_or("none") : fault.status().ToString();
    });
  };
  EXPECT_EQ(fault_of({}), "");
  EXPECT_EQ(FaultOf({.last_hot = true}), "");
  EXPECT_THAT(fault_of({.last_hot = true}),
              HasSubstr("one-hot cotangents, element 5 of the gradient"));
}

/// "1 - 0 > 2": the axes of inputs and outputs; "none".
std::string AxesText(const char* model, const std::vector<Shape>& shapes) {
  std::vector<Value> inputs;
  const auto parsed = graph::ModelOfText(model);
  const Graph& graph = parsed->graph();
  for (size_t i = 0; i < shapes.size(); ++i) {
    inputs.emplace_back(
        *Tensor::Allocate(graph[graph.inputs[i]].type.dtype, shapes[i]));
  }
  const auto axes = BatchAxesOf(graph, inputs);
  if (!axes.has_value()) return "none";
  const auto text = [](int axis) {
    return axis < 0 ? std::string("-") : StrCat(axis);
  };
  return Joined(axes->inputs, " ", text) + " > " +
         Joined(axes->outputs, " ", text);
}

// Kills: weights that are taken for examples, a mask without a batch that is
// reversed, a layout that is not read, and labels that cannot be reversed.
TEST(BatchAxesOf, AreThoseOfTheOperator) {
  struct Row {
    const char* model;
    std::vector<Shape> shapes;
    const char* axes;
  };
  const Row rows[] = {
      {"g (float[2,1,4] x, float[1,1,2] w) => (float[2,1,3] y) "
       "{ y = Conv(x, w) }",
       {{2, 1, 4}, {1, 1, 2}},
       "0 - > 0"},
      {"g (float[1,1,4] x, float[1,1,2] w) => (float[1,1,3] y) "
       "{ y = Conv(x, w) }",
       {{1, 1, 4}, {1, 1, 2}},
       "none"},
      {"g (float[2] x) => (float[2] y) { y = Relu(x) }", {{2}}, "none"},
      {"g (float[5,2,3] x, float[1,4,3] w, float[1,4,4] r, int32[2] l, "
       "float[1,2,4] h) => (float y) { , y = RNN<hidden_size = 4>(x, w, r, , "
       "l, h) }",
       {{5, 2, 3}, {1, 4, 3}, {1, 4, 4}, {2}, {1, 2, 4}},
       "1 - - 0 1 > 1"},
      {"g (float[2,5,3] x, float[1,4,3] w, float[1,4,4] r) => (float y) "
       "{ y = RNN<hidden_size = 4, layout = 1>(x, w, r) }",
       {{2, 5, 3}, {1, 4, 3}, {1, 4, 4}},
       "0 - - > 0"},
      {"g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[4,6] m)"
       " => (float y) { y = Attention(q, k, v, m) }",
       {{2, 3, 4, 8}, {2, 3, 6, 8}, {2, 3, 6, 8}, {4, 6}},
       "0 0 0 - > 0"},
      {"g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, "
       "float[2,1,4,6] m) => (float y) { y = Attention(q, k, v, m) }",
       {{2, 3, 4, 8}, {2, 3, 6, 8}, {2, 3, 6, 8}, {2, 1, 4, 6}},
       "0 0 0 0 > 0"},
      {"g (float[2,3] x) => (float y) <int64[2] t = {0, 2}> "
       "{ y = NegativeLogLikelihoodLoss(x, t) }",
       {{2, 3}},
       "none"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(AxesText(row.model, row.shapes), row.axes) << row.model;
  }
}

}  // namespace
}  // namespace assay::gradcheck
