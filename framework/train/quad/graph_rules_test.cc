// SPDX-License-Identifier: Apache-2.0
//
// The rules that a backend runs as graphs beside the same formulas in quad
// precision. They are run by the reference, whose arithmetic is right.

#include "framework/train/graph_rule/graph_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/graph_rule/graph_optimizer.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/problem.h"

namespace assay::quad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kSteps = 30;

/// The rate halves within the few steps.
train::Recipe FewSteps() {
  return {.schedule = train::StepSchedule(0.5, {10, 20})};
}

LockstepQuad LockstepOf(const OptimizerSpec& spec, const Problem& problem,
                        DType type) {
  const train::Recipe recipe = FewSteps();
  train::Made made =
      train::MakeGraphOptimizer({spec.optimizer, spec.preset, spec.settings},
                                Reference(), recipe)
          .value();
  return {{spec.optimizer, std::move(made), recipe.schedule},
          std::make_unique<ProblemObjective>(problem, type),
          problem.gradient_of};
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
    LockstepQuad lockstep = LockstepOf(GetParam(), problem, DType::kFloat64);
    for (int step = 1; step <= kSteps; ++step) {
      const Status stepped = lockstep.Step(Gradients::kOwn);
      ASSERT_TRUE(stepped.ok()) << stepped.ToString();
      ASSERT_LE(lockstep.Difference(), 1e-12) << problem.name << " at " << step;
    }
  }
}

// Kills: arithmetic of a step that float32 does not explain.
TEST_P(GraphRulesTest, RoundAsFloat32Does) {
  for (const Problem& problem : Problems()) {
    LockstepQuad lockstep = LockstepOf(GetParam(), problem, DType::kFloat32);
    for (int step = 1; step <= kSteps; ++step) {
      ASSERT_TRUE(lockstep.Step(Gradients::kGiven).ok());
      ASSERT_LE(lockstep.Difference(), 8 * 0x1p-24)
          << problem.name << " at " << step;
      lockstep.Lock();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GraphRulesTest, ::testing::ValuesIn(WithGraph()),
                         [](const auto& info) { return info.param.id(); });

/// An objective of one parameter, whose gradient is fixed.
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
  Slope slope(*Tensor::Of<double>({2}, std::vector{0.0, 0.0}),
              *Tensor::Of<double>({2}, std::vector{1.0, -1.0}));
  auto made = train::MakeGraphOptimizer({"lamb"}, Reference());
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  ASSERT_TRUE(made->optimizer->Step(slope).ok());
  EXPECT_NEAR(slope.value().elements<double>()[0], -1e-3, 1e-8);
}

TEST(GraphOptimizerTest, TakesParametersOfAllShapes) {
  for (const Shape& shape : {Shape(), Shape{0}, Shape{1, 1, 1}}) {
    const auto count = static_cast<size_t>(*shape.NumElements());
    const std::vector<double> ones(count, 1);
    Slope slope(*Tensor::Of<double>(shape, ones),
                *Tensor::Of<double>(shape, ones));
    auto made = train::MakeGraphOptimizer({"momentum", "paper", "rate=0.5"},
                                          Reference());
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    const auto stepped = made->optimizer->Step(slope);
    ASSERT_TRUE(stepped.ok()) << stepped.status().ToString();
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
  auto made = train::MakeGraphOptimizer({"adam"}, backend);
  ASSERT_TRUE(made.ok());
  Slope slope(*Tensor::Of<double>({1}, std::vector{1.0}), Tensor());
  const Status status = made->optimizer->Step(slope).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.reason(), Reason::kOperator);
  EXPECT_EQ(status.message(), "the graph of the rule: operator Sqrt");
  auto without = train::MakeGraphOptimizer({"momentum"}, backend);
  Slope other(*Tensor::Of<double>({1}, std::vector{1.0}),
              *Tensor::Of<double>({1}, std::vector{1.0}));
  EXPECT_TRUE(without->optimizer->Step(other).ok());
}

TEST(GraphRuleTest, SaysWhatThereIs) {
  const auto made = train::GraphRuleOf({"accelegrad"});
  EXPECT_EQ(made.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(made.status().message(), HasSubstr("'accelegrad'"));
  EXPECT_FALSE(train::HasGraphRule("accelegrad"));
  EXPECT_EQ(train::GraphRuleOf({"adamm"}).status().code(),
            StatusCode::kInvalidArgument);
  const auto plain = train::GraphRuleOf({"adam", "paper", "correction=none"});
  ASSERT_TRUE(plain.ok());
  EXPECT_THAT(plain->rule.update.nodes, Not(HasSubstr("corrected")));
}

}  // namespace
}  // namespace assay::quad
