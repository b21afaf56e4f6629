// SPDX-License-Identifier: Apache-2.0
//
// The framework's optimizers for 1,000 steps, and the rules that a backend runs
// as graphs, beside the same formulas in quad precision. The graphs are run by
// the reference, whose arithmetic is right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/graph_rule/graph_rules.h"
#include "framework/train/optimizer/in_place.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/problem_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::quad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using train::Progress;

constexpr int kSteps = 1000;

class RulesTest : public ::testing::TestWithParam<OptimizerSpec> {};

// Kills: a formula that is not its source's.
TEST_P(RulesTest, AreTheFormulasOfTheirSources) {
  for (const Problem& problem : Problems()) {
    for (const bool locks : {false, true}) {
      ExpectClose(
          LockstepOf(SetupOf(GetParam()).value(), problem, DType::kFloat64),
          {.steps = kSteps, .locks = locks},
          problem.name + (locks ? ", locked," : ""));
    }
  }
}

// Kills: arithmetic of a step that float32 does not explain.
TEST_P(RulesTest, RoundAsFloat32Does) {
  for (const Problem& problem : Problems()) {
    ExpectClose(
        LockstepOf(SetupOf(GetParam()).value(), problem, DType::kFloat32),
        {.steps = kSteps, .locks = true}, problem.name);
  }
}

// Kills: an optimizer that goes elsewhere, or nowhere.
TEST(OptimizersTest, ComeNearTheOptimum) {
  struct Row {
    std::string_view optimizer, settings;
  };
  for (const Row& row : {
           Row{"gradient_descent", "rate=0.1"},
           Row{"momentum", "rate=0.05"},
           Row{"nesterov", "rate=0.05"},
           Row{"adam", "rate=0.05"},
           Row{"amsgrad", "rate=0.05"},
           Row{"adamw", "rate=0.05 weight_decay=0"},
           Row{"adagrad", "rate=0.5"},
           Row{"adadelta", "rate=10"},
           Row{"rmsprop", "rate=0.01"},
           Row{"accelegrad", "rate=1"},
           Row{"lamb", "rate=0.01 weight_decay=0"},
       }) {
    for (const Problem& problem : Problems()) {
      ProblemObjective objective(problem, DType::kFloat64);
      auto made =
          Got(train::MakeOptimizer({row.optimizer, "paper", row.settings}));
      double first = 0;
      double last = 0;
      for (int step = 1; step <= kSteps; ++step) {
        const auto loss = Got(made.optimizer->Step(objective));
        last = loss;
        if (step == 1) first = last;
      }
      EXPECT_LE(last, first / 100) << row.optimizer << " on " << problem.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RulesTest, ::testing::ValuesIn(OptimizerSpecs()),
                         [](const auto& info) { return IdOf(info.param); });

// Optimizers of others that were wrong, with the public threads that say so:
// each rule as its thread has it, beside the formula of what it was said to be.
constexpr double kRate = 0.01, kDecay = 0.1, kMomentum = 0.9, kDampening = 0.3;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kQuickBeta2 = 0.9;
constexpr double kEpsilon = 1e-3, kRho = 0.95, kDeltaEpsilon = 1e-6;

/// One element of a parameter, with its gradient and its state.
struct Element {
  double t, g;
  double& x;
  double& first;   // state, where there is so much
  double& second;  // state
  double& third;   // state
};
using Wrong = void (*)(const Element& at);

/// A rule whose state has the names of another's.
class FieldRule : public train::UpdateRuleOptimizer {
 public:
  FieldRule(std::vector<train::Slot> slots, Wrong update)
      : UpdateRuleOptimizer(train::Recipe{.rate = kRate}),
        slots_(std::move(slots)),
        update_(update) {}

 protected:
  std::vector<train::Slot> StateOfEach() const override { return slots_; }
  Status UpdateRule(const Progress& at, const Tensor& gradient,
                    train::Slots& slots, Tensor* parameter) override {
    const train::Elements<double> each =
        train::ElementsOf<double>(parameter, gradient, slots);
    double none = 0;
    const auto state = [&](size_t slot, size_t i) -> double& {
      return each.state[slot].empty() ? none : each.state[slot][i];
    };
    for (size_t i = 0; i < each.x.size(); ++i) {
      update_({static_cast<double>(at.step), each.g[i], each.x[i], state(0, i),
               state(1, i), state(2, i)});
    }
    return OkStatus();
  }

 private:
  std::vector<train::Slot> slots_;
  Wrong update_;
};

/// The moments of Adam, and both as its corrections have them.
struct Moments {
  Moments(const Element& at, double g, double beta2 = kBeta2) {
    at.first = kBeta1 * at.first + (1 - kBeta1) * g;
    at.second = beta2 * at.second + (1 - beta2) * g * g;
    bias1 = 1 - std::pow(kBeta1, at.t);
    bias2 = 1 - std::pow(beta2, at.t);
    m = at.first / bias1;
    v = at.second / bias2;
  }
  double step() const { return kRate * m / (std::sqrt(v) + kEpsilon); }

  double m, v, bias1, bias2;
};

struct Row {
  const char* thread;
  OptimizerSpec spec;
  Wrong wrong;
};

const char kAdam[] = "rate=0.01 epsilon=1e-3";
const char kAdamDecays[] = "rate=0.01 epsilon=1e-3 weight_decay=0.1";

std::vector<Row> AdamRows() {
  return {
      {"github.com/huggingface/transformers/issues/14539: the weight that "
       "decays is "
       "the updated one",
       {"adamw", "pytorch", kAdamDecays},
       [](const Element& at) {
         at.x -= Moments(at, at.g).step();
         at.x -= kRate * kDecay * at.x;
       }},
      {"github.com/joennlae/tensorli/issues/1: the decay is without the rate",
       {"adamw", "pytorch", kAdamDecays},
       [](const Element& at) {
         at.x -= Moments(at, at.g).step() + kDecay * at.x;
       }},
      {"github.com/mlverse/torch/issues/821: the decay adds a number of the "
       "loop in "
       "place of the parameter",
       {"adam", "pytorch", kAdamDecays},
       [](const Element& at) {
         at.x -= Moments(at, at.g + kDecay * 1).step();
       }},
      {"github.com/flagos-ai/FlagGems/issues/4988: Adam decays as AdamW",
       {"adam", "pytorch", kAdamDecays},
       [](const Element& at) {
         at.x -= Moments(at, at.g).step() + kRate * kDecay * at.x;
       }},
      {"github.com/pytorch/pytorch/pull/22628: epsilon is corrected with the "
       "moment",
       {"adam", "pytorch", kAdam},
       [](const Element& at) {
         const Moments now(at, at.g);
         at.x -= kRate * now.m /
                 ((std::sqrt(at.second) + kEpsilon) / std::sqrt(now.bias2));
       }},
      {"github.com/kozistr/pytorch_optimizer/pull/308: one is taken away twice",
       {"adam", "pytorch", kAdam},
       [](const Element& at) {
         const Moments now(at, at.g);
         at.x -= kRate * (at.first / (1 - now.bias1)) /
                 (std::sqrt(at.second / (1 - now.bias2)) + kEpsilon);
       }},
      {"github.com/oracle/tribuo/pull/401: the root multiplies",
       {"adam", "pytorch", kAdam},
       [](const Element& at) {
         const Moments now(at, at.g);
         at.x -= kRate * now.m * (std::sqrt(now.v) + kEpsilon);
       }},
      {"github.com/pytorch/pytorch/issues/78807: the maximum is forgotten",
       {"amsgrad", "pytorch", "rate=0.01 epsilon=1e-3 beta2=0.9"},
       [](const Element& at) {
         at.x -= Moments(at, at.g, kQuickBeta2).step();
         at.third = at.second;
       }},
  };
}

std::vector<Row> OtherRows() {
  return {
      {"github.com/ml-explore/mlx/pull/473: the first velocity is dampened",
       {"momentum", "pytorch", "rate=0.01 momentum=0.9 dampening=0.3"},
       [](const Element& at) {
         at.first = kMomentum * at.first + (1 - kDampening) * at.g;
         at.x -= kRate * at.first;
       }},
      {"github.com/ml-explore/mlx/issues/440: without momentum nothing decays",
       {"gradient_descent", "pytorch", "rate=0.01 weight_decay=0.1"},
       [](const Element& at) { at.x -= kRate * at.g; }},
      {"github.com/PaddlePaddle/Paddle/pull/12231: the velocity is added",
       {"nesterov", "pytorch", "rate=0.01 momentum=0.9"},
       [](const Element& at) {
         at.first = kMomentum * at.first + at.g;
         at.x += kRate * (kMomentum * at.first - at.g);
       }},
      {"github.com/zc911/MatrixSlow/pull/17: the first velocity is without the "
       "rate",
       {"momentum", "paper", "rate=0.01 momentum=0.9"},
       [](const Element& at) {
         at.first = at.t == 1 ? at.g : kMomentum * at.first + kRate * at.g;
         at.x -= at.first;
       }},
      {"github.com/tensorflow/tensorflow/pull/644: the mean square is added to "
       "itself",
       {"adadelta", "pytorch", "rate=0.01 rho=0.95 epsilon=1e-6"},
       [](const Element& at) {
         at.first += kRho * at.first + (1 - kRho) * at.g * at.g;
         const double step = std::sqrt(at.second + kDeltaEpsilon) /
                             std::sqrt(at.first + kDeltaEpsilon) * at.g;
         at.second = kRho * at.second + (1 - kRho) * step * step;
         at.x -= kRate * step;
       }},
  };
}

std::vector<train::Slot> SlotsOf(train::Optimizer& optimizer,
                                 const Problem& problem) {
  ProblemObjective objective(problem, DType::kFloat64);
  EXPECT_TRUE(optimizer.Begin(objective.parameters()).ok());
  const std::string first = objective.parameters()[0].name;
  std::vector<train::Slot> slots;
  for (const train::StateTensor& tensor : optimizer.State()) {
    if (tensor.parameter == first) slots.push_back({tensor.name});
  }
  return slots;
}

/// The first step at which the rule is off; 0: none of 60.
int FirstStepOff(OptimizerSetup setup, const Problem& problem) {
  LockstepQuad lockstep =
      LockstepOf(std::move(setup), problem, DType::kFloat64);
  constexpr int kFieldSteps = 60;
  for (int step = 1; step <= kFieldSteps; ++step) {
    EXPECT_TRUE(lockstep.Step(Gradients::kGiven).ok());
    if (!(lockstep.Share() <= 1)) return step;
    lockstep.Lock();
  }
  return 0;
}

class FieldTest : public ::testing::TestWithParam<Row> {};

// Kills: a comparison that one of these passes.
TEST_P(FieldTest, IsSeen) {
  const Row& row = GetParam();
  for (const Problem& problem : Problems()) {
    EXPECT_EQ(FirstStepOff(SetupOf(row.spec, {}).value(), problem), 0)
        << row.thread << ", where it is right";
    OptimizerSetup wrong = SetupOf(row.spec, {}).value();
    wrong.made.optimizer = std::make_unique<FieldRule>(
        SlotsOf(*wrong.made.optimizer, problem), row.wrong);
    EXPECT_NE(FirstStepOff(std::move(wrong), problem), 0)
        << row.thread << ", on " << problem.name;
  }
}

// Kills: a comparison that takes any rule of this file for a wrong one.
TEST(FieldRuleTest, IsNotSeenWhereItIsRight) {
  const OptimizerSpec spec = {"adamw", "pytorch", kAdamDecays};
  for (const Problem& problem : Problems()) {
    OptimizerSetup right = SetupOf(spec, {}).value();
    right.made.optimizer = std::make_unique<FieldRule>(
        SlotsOf(*right.made.optimizer, problem), [](const Element& at) {
          at.x -= kRate * kDecay * at.x;
          at.x -= Moments(at, at.g).step();
        });
    EXPECT_EQ(FirstStepOff(std::move(right), problem), 0) << problem.name;
  }
}

/// The project and the number of its thread.
std::string NameOf(const testing::TestParamInfo<Row>& info) {
  std::string name = info.param.thread;
  name = name.substr(0, name.find(':'));
  name = name.substr(name.find('/') + 1);
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Adam, FieldTest, ::testing::ValuesIn(AdamRows()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Others, FieldTest, ::testing::ValuesIn(OtherRows()),
                         NameOf);

constexpr int kGraphSteps = 30;

train::Recipe FewSteps() {
  return {.schedule = train::StepSchedule(0.5, {10, 20})};
}

LockstepQuad GraphLockstepOf(const OptimizerSpec& spec, const Problem& problem,
                             DType type) {
  const train::Recipe recipe = FewSteps();
  train::Made made =
      train::MakeGraphOptimizer({spec.optimizer, spec.preset, spec.settings},
                                Reference(), recipe)
          .value();
  return LockstepOf({spec.optimizer, std::move(made), recipe.schedule}, problem,
                    type);
}

std::vector<OptimizerSpec> WithGraph() {
  std::vector<OptimizerSpec> specs = OptimizerSpecs();
  std::erase_if(specs, [](const OptimizerSpec& spec) {
    return !train::HasGraphRule(spec.optimizer);
  });
  return specs;
}

class GraphRulesTest : public ::testing::TestWithParam<OptimizerSpec> {};

// Kills: a graph that is not the formula, a factor of another step.
TEST_P(GraphRulesTest, AreTheFormulasOfTheirSources) {
  for (const Problem& problem : Problems()) {
    ExpectClose(GraphLockstepOf(GetParam(), problem, DType::kFloat64),
                {.steps = kGraphSteps}, problem.name);
  }
}

// Kills: arithmetic of a step that float32 does not explain.
TEST_P(GraphRulesTest, RoundAsFloat32Does) {
  for (const Problem& problem : Problems()) {
    ExpectClose(GraphLockstepOf(GetParam(), problem, DType::kFloat32),
                {.steps = kGraphSteps, .locks = true}, problem.name);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GraphRulesTest, ::testing::ValuesIn(WithGraph()),
                         [](const auto& info) { return IdOf(info.param); });

class Slope : public train::Objective {
 public:
  Slope(Tensor value, Tensor gradient) : gradient_(std::move(gradient)) {
    parameters_.push_back({"w", std::move(value)});
  }
  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    ASSAY_ASSIGN_OR_RETURN(lent_, gradient_.Clone());
    return train::Evaluation{0, {&lent_, 1}};
  }
  const Tensor& value() const { return parameters_[0].value; }

 private:
  std::vector<train::Parameter> parameters_;
  Tensor gradient_, lent_;
};

// Kills: a trust that is 0 or no number where the parameter is 0.
TEST(LambTest, TrustsAParameterOfZeros) {
  Slope slope(Doubles({0.0, 0.0}), Doubles({1.0, -1.0}));
  auto made = Got(train::MakeGraphOptimizer({"lamb"}, Reference()));
  ASSERT_TRUE(made.optimizer->Step(slope).ok());
  EXPECT_NEAR(slope.value().elements<double>()[0], -1e-3, 1e-8);
}

TEST(GraphOptimizerTest, TakesParametersOfAllShapes) {
  for (const Shape& shape : {Shape(), Shape{0}, Shape{1, 1, 1}}) {
    const auto count = static_cast<size_t>(*shape.NumElements());
    const std::vector<double> ones(count, 1);
    Slope slope(*Tensor::Of<double>(shape, ones),
                *Tensor::Of<double>(shape, ones));
    auto made = Got(train::MakeGraphOptimizer({"momentum", "paper", "rate=0.5"},
                                              Reference()));
    ASSERT_TRUE(made.optimizer->Step(slope).ok());
    EXPECT_EQ(slope.value().shape(), shape);
    for (const double x : slope.value().elements<double>()) EXPECT_EQ(x, 0.5);
  }
}

// Kills: a rule that is declined behind the gradients.
TEST(GraphOptimizerTest, IsDeclinedBeforeItsGradients) {
  StubBackend backend(
      [](auto model,
         const LoadOptions& options) -> Result<std::unique_ptr<Network>> {
        for (const Node& node : model->graph().nodes) {
          if (node.op_type == "Sqrt") {
            return Unsupported(Reason::kOperator, "operator Sqrt");
          }
        }
        return Reference().Load(std::move(model), options);
      });
  auto made = Got(train::MakeGraphOptimizer({"adam"}, backend));
  Slope slope(Doubles({1.0}), Tensor());
  const Status status = made.optimizer->Step(slope).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kOperator);
  EXPECT_EQ(status.message(), "the graph of the rule: operator Sqrt");
  auto without = train::MakeGraphOptimizer({"momentum"}, backend);
  Slope other(Doubles({1.0}), Doubles({1.0}));
  EXPECT_TRUE(without->optimizer->Step(other).ok());
}

TEST(GraphRuleTest, SaysWhatThereIs) {
  EXPECT_THAT(train::GraphRuleOf({"accelegrad"}),
              IsStatus(StatusCode::kUnsupported, "'accelegrad'"));
  EXPECT_FALSE(train::HasGraphRule("accelegrad"));
  EXPECT_EQ(train::GraphRuleOf({"adamm"}).status().code(),
            StatusCode::kInvalidArgument);
  const auto plain =
      Got(train::GraphRuleOf({"adam", "paper", "correction=none"}));
  EXPECT_THAT(plain.rule.update.nodes, Not(HasSubstr("corrected")));
}

}  // namespace
}  // namespace assay::quad
