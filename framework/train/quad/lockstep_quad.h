// SPDX-License-Identifier: Apache-2.0
//
// LockstepQuad: an optimizer of the framework and the same one in quad
// precision, step by step on one problem.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/quad/quad.h"
#include "framework/train/rule/optimizers.h"

namespace assay::quad {

/// An optimizer by name: a preset, or conventions that no preset has.
struct OptimizerSpec {
  std::string optimizer, preset, settings;
};

/// The recipe around every optimizer that tests compare: the rate halves twice,
/// so that it matters where the rate stands.
train::Recipe SetupRecipe();

/// An optimizer that is compared, with the settings and the schedule that it is
/// said to have.
struct OptimizerSetup {
  std::string optimizer;  // by name
  train::Made made;
  train::Schedule schedule = train::ConstantSchedule();
};

/// Invalid argument for an optimizer, a preset or a setting that there is not.
Result<OptimizerSetup> SetupOf(const OptimizerSpec& spec,
                               const train::Recipe& recipe = SetupRecipe());

/// The distance of a tensor of an optimizer from the quad rule's. `greatest` is
/// of all |want| that the tensor has had.
struct TensorDifference : Spread {
  std::string parameter;
  std::string state;  // empty: the parameter itself

  /// "w", "w.velocity".
  std::string name() const {
    return state.empty() ? parameter : StrCat(parameter, ".", state);
  }
};

/// Whose gradients the quad rule takes: those of the problem where it is, or
/// those that the optimizer was given, so that nothing but the rule differs.
enum class Gradients : uint8_t { kOwn, kGiven };

/// It is an objective itself, around the one that is given: it keeps the
/// gradients that it passes on.
class LockstepQuad : private train::Objective {
 public:
  /// Throws std::runtime_error where there is no such rule.
  LockstepQuad(OptimizerSetup setup,
               std::unique_ptr<train::Objective> objective,
               GradientOf gradient_of);

  Status Step(Gradients gradients);
  /// A step of the optimizer alone: Lock before the next one of both.
  Status StepAlone();
  /// The quad rule goes on from where the optimizer is.
  void Lock();
  /// The parameters, each with its state.
  std::vector<TensorDifference> Compare();
  /// The greatest linf of a tensor over its greatest number: a velocity that
  /// dies out is a difference of greater ones.
  double Difference();
  /// The greatest share of a limit, of a step that began where both were.
  double Share();

  /// The optimizer's, which share their memory with it.
  std::vector<train::StateTensor> State() {
    return setup_.made.optimizer->State();
  }
  /// The state that belongs to parameters, each tensor with the place of its
  /// parameter.
  std::vector<std::pair<size_t, train::StateTensor>> StateByParameter();
  std::span<train::Parameter> parameters() override {
    return objective_->parameters();
  }
  const std::vector<QuadTensor>& wanted() const { return x_; }
  /// The numbers and conventions of both by name.
  const SettingTexts& settings() const { return setup_.made.settings; }
  double ScheduleAt(int64_t step) const { return setup_.schedule(step); }

 private:
  struct Pair {
    std::string parameter, state;
    Tensor own;
    QuadTensor* quad;
  };

  Result<train::Evaluation> Evaluate() override;
  /// The optimizer's part of the next step.
  Status StepOptimizer();
  /// The parameters, then their state.
  std::vector<Pair> Tensors();
  /// The greatest of all tensors; NaN where one is.
  double Worst(double (*share_of)(const TensorDifference&));

  std::unique_ptr<train::Objective> objective_;
  GradientOf gradient_of_;
  OptimizerSetup setup_;
  std::unique_ptr<QuadRule> rule_;
  std::vector<QuadTensor> x_, given_;
  std::vector<double> greatest_;
  QuadRule::StepInfo at_ = {.step = 0};
  bool is_alone_ = false;
};

}  // namespace assay::quad
