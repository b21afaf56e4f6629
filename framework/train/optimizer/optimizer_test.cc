// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Half the squared distance of all elements from their goal.
class ToGoal : public Objective {
 public:
  ToGoal(std::vector<std::string> names, double goal) : goal_(goal) {
    for (std::string& name : names) {
      parameters_.push_back({std::move(name), Doubles({0.0})});
    }
  }

  std::span<Parameter> parameters() override { return parameters_; }
  Result<Evaluation> Evaluate() override {
    Evaluation evaluation;
    gradients_.clear();
    for (const Parameter& parameter : parameters_) {
      const double off = parameter.value.elements<double>()[0] - goal_;
      evaluation.loss += off * off / 2;
      gradients_.push_back(Doubles({off}));
    }
    evaluation.gradients = gradients_;
    return evaluation;
  }
  double at(size_t i) const {
    return parameters_[i].value.elements<double>()[0];
  }

  std::vector<Parameter> parameters_;
  std::vector<Tensor> gradients_;
  double goal_;
};

/// Says what it is asked, in order.
class Speaking : public ThreeStepOptimizer {
 public:
  using ThreeStepOptimizer::ThreeStepOptimizer;
  std::vector<std::string> said;

 protected:
  std::vector<Slot> StateOfEach() const override { return {{"sum", 2}}; }
  Status NewInput(const Progress& at) override {
    said.push_back(StrCat("input ", at.step));
    return OkStatus();
  }
  Status PrepareParameter(const Progress& at, Slots&, Tensor*) override {
    said.push_back(StrCat("prepare ", at.rate));
    return OkStatus();
  }
  Status NewGradients(const Progress&, std::span<const Tensor> all) override {
    said.push_back(StrCat("gradients ", all.size()));
    return OkStatus();
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override {
    said.push_back(StrCat("update ", at.rate));
    return InPlace(parameter, gradient, slots,
                   [&]<class T>(const Elements<T>& each) {
                     each.state[0][0] += each.g[0];
                     each.x[0] -= static_cast<T>(at.rate) * each.state[0][0];
                   });
  }
};

Recipe Halving() { return {.rate = 0.5, .schedule = ExponentialSchedule(0.5)}; }

TEST(OptimizerTest, TakesThreeStepsInOrder) {
  Recipe recipe = Halving();
  recipe.groups = {{.names = {"b"}, .rate_scale = 10}};
  Speaking optimizer(recipe);
  ToGoal objective({"a", "b"}, 1);
  ASSERT_TRUE(optimizer.Step(objective).ok());
  EXPECT_THAT(optimizer.said,
              ElementsAre("input 1", "prepare 0.5", "prepare 5", "gradients 2",
                          "update 0.5", "update 5"));
  optimizer.said.clear();
  ASSERT_TRUE(optimizer.Step(objective).ok());
  EXPECT_THAT(optimizer.said[0], "input 2");
  EXPECT_THAT(optimizer.said[1], "prepare 0.25");
}

// Kills: state that is shared between parameters, or made anew.
TEST(OptimizerTest, KeepsStateForEachParameter) {
  Speaking optimizer(Halving());
  ToGoal objective({"a", "b"}, 1);
  const auto loss = optimizer.Step(objective);
  ASSERT_TRUE(loss.ok()) << loss.status().ToString();
  EXPECT_EQ(*loss, 1);  // of both, before the step
  const std::vector<StateTensor> state = optimizer.State();
  ASSERT_EQ(state.size(), 3U);
  EXPECT_EQ(state[0].name, "steps");
  EXPECT_EQ(state[0].value.elements<int64_t>()[0], 1);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(state[i].parameter, i == 1 ? "a" : "b");
    EXPECT_EQ(state[i].name, "sum");
    EXPECT_EQ(state[i].value.elements<double>()[0], 2 - 1);
  }
}

// Kills: anything that the next step depends on and that is not in the state.
TEST(OptimizerTest, GoesOnFromItsState) {
  ToGoal one({"a"}, 1);
  Speaking whole(Halving());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(whole.Step(one).ok());

  ToGoal two({"a"}, 1);
  Speaking before(Halving());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(before.Step(two).ok());
  Speaking after(Halving());
  ASSERT_TRUE(after.Begin(two.parameters()).ok());
  const auto from = before.State();
  auto to = after.State();
  ASSERT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    std::ranges::copy(from[i].value.bytes(), to[i].value.mutable_data());
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(after.Step(two).ok());
  EXPECT_EQ(one.at(0), two.at(0));
}

// Kills: a decay of another factor, at another place, or of another group.
TEST(OptimizerTest, DecaysAsIsSaid) {
  struct Row {
    Decay decay;
    double want;  // from x = 1 and a gradient of 1 and the sum 2 before
  };
  // rate 0.5, schedule 0.5, decay 0.1
  for (const Row& row : {
           Row{Decay::kCoupled, 1 - 0.25 * (2 + 1.1)},
           Row{Decay::kByRate, 1 - 0.25 * 0.1 - 0.25 * 3},
           Row{Decay::kBySchedule, 1 - 0.5 * 0.1 - 0.25 * 3},
           Row{Decay::kAfter, (1 - 0.25 * 3) * 0.9},
           Row{Decay::kInRule, 1 - 0.25 * 3},
       }) {
    Recipe recipe{.rate = 0.5, .weight_decay = 0.1, .decay = row.decay};
    recipe.schedule = [](int64_t) { return 0.5; };
    recipe.groups = {{.names = {"b"}, .weight_decay = 0.0}};
    Speaking optimizer(recipe);
    ToGoal objective({"a", "b"}, 0);
    for (Parameter& each : objective.parameters()) {
      each.value.mutable_elements<double>()[0] = 1;
    }
    ASSERT_TRUE(optimizer.Step(objective).ok());
    EXPECT_NEAR(objective.at(0), row.want, 1e-15)
        << kDecayWords[static_cast<size_t>(row.decay)];
    EXPECT_EQ(objective.at(1), 1 - 0.25 * 3);
  }
}

TEST(OptimizerTest, SaysWhatIsWrong) {
  Speaking twice(Halving());
  ToGoal same({"a", "a"}, 1);
  EXPECT_THAT(twice.Step(same).status().message(),
              HasSubstr("two parameters have the name 'a'"));

  Speaking other(Halving());
  ToGoal first({"a"}, 1);
  ToGoal second({"b"}, 1);
  ASSERT_TRUE(other.Step(first).ok());
  EXPECT_THAT(other.Step(second).status().message(),
              HasSubstr("found the parameters b, began with a"));

  struct Bent : ToGoal {
    using ToGoal::ToGoal;
    Result<Evaluation> Evaluate() override {
      gradients_ = {Doubles({1, 1}, {0.0})};
      return Evaluation{0, gradients_};
    }
  };
  Speaking optimizer(Halving());
  Bent bent({"a"}, 1);
  EXPECT_THAT(optimizer.Step(bent).status().message(),
              HasSubstr("the gradient of 'a' is float64[1,1], wanted "
                        "float64[1]"));
}

TEST(OptimizerTest, ParametersAreFloats) {
  struct Whole : ToGoal {
    using ToGoal::ToGoal;
    Result<Evaluation> Evaluate() override {
      gradients_ = {parameters_[0].value};
      return Evaluation{0, gradients_};
    }
  };
  Whole whole({"a"}, 1);
  whole.parameters_[0].value = *Tensor::Allocate(DType::kInt32, {1});
  Speaking optimizer(Halving());
  const auto loss = optimizer.Step(whole);
  EXPECT_EQ(loss.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(loss.status().message(),
              HasSubstr("a: found a parameter of type int32, wanted float32 or "
                        "float64"));
}

}  // namespace
}  // namespace assay::train
