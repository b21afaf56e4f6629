// SPDX-License-Identifier: Apache-2.0
//
// The framework's optimizers beside the same formulas in quad precision, for
// 1,000 steps on problems whose optimum is known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/problem.h"
#include "framework/train/rule/optimizers.h"

namespace assay::quad {
namespace {

constexpr int kSteps = 1000;

LockstepQuad LockstepOf(const OptimizerSpec& spec, const Problem& problem,
                        DType type) {
  return {SetupOf(spec).value(),
          std::make_unique<ProblemObjective>(problem, type),
          problem.gradient_of};
}

class RulesTest : public ::testing::TestWithParam<OptimizerSpec> {};

// Kills: a formula that is not its source's.
TEST_P(RulesTest, AreTheFormulasOfTheirSources) {
  for (const Problem& problem : Problems()) {
    LockstepQuad free = LockstepOf(GetParam(), problem, DType::kFloat64);
    LockstepQuad locked = LockstepOf(GetParam(), problem, DType::kFloat64);
    for (int step = 1; step <= kSteps; ++step) {
      ASSERT_TRUE(free.Step(Gradients::kOwn).ok());
      ASSERT_LE(free.Difference(), 1e-12) << problem.name << " at " << step;
      ASSERT_TRUE(locked.Step(Gradients::kOwn).ok());
      ASSERT_LE(locked.Difference(), 1e-12)
          << problem.name << ", locked, at " << step;
      locked.Lock();
    }
  }
}

// Kills: arithmetic of a step that float32 does not explain.
TEST_P(RulesTest, RoundAsFloat32Does) {
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
      auto made = train::MakeOptimizer({row.optimizer, "paper", row.settings});
      ASSERT_TRUE(made.ok()) << made.status().ToString();
      double first = 0;
      double last = 0;
      for (int step = 1; step <= kSteps; ++step) {
        const auto loss = made->optimizer->Step(objective);
        ASSERT_TRUE(loss.ok()) << loss.status().ToString();
        last = *loss;
        if (step == 1) first = last;
      }
      EXPECT_LE(last, first / 100) << row.optimizer << " on " << problem.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RulesTest, ::testing::ValuesIn(OptimizerSpecs()),
                         [](const auto& info) { return info.param.id(); });

}  // namespace
}  // namespace assay::quad
