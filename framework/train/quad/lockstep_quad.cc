// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/lockstep_quad.h"

#include <algorithm>
#include <stdexcept>

namespace assay::quad {
namespace {

template <class T>
T Made(Result<T> made) {
  if (!made.ok()) throw std::runtime_error(made.status().ToString());
  return *std::move(made);
}

}  // namespace

train::Recipe SetupRecipe() {
  return {.schedule = train::StepSchedule(0.5, {300, 700})};
}

Result<OptimizerSetup> SetupOf(const OptimizerSpec& spec,
                               const train::Recipe& recipe) {
  OptimizerSetup setup;
  setup.optimizer = spec.optimizer;
  ASSAY_ASSIGN_OR_RETURN(
      setup.made, train::MakeOptimizer(
                      {spec.optimizer, spec.preset, spec.settings}, recipe));
  setup.schedule = recipe.schedule;
  return setup;
}

LockstepQuad::LockstepQuad(OptimizerSetup setup,
                           std::unique_ptr<train::Objective> objective,
                           GradientOf gradient_of)
    : objective_(std::move(objective)),
      gradient_of_(std::move(gradient_of)),
      setup_(std::move(setup)) {
  rule_ = Made(MakeQuadRule(setup_.optimizer, setup_.made.settings,
                            objective_->parameters().size()));
  x_ = InQuad(objective_->parameters());
}

Status LockstepQuad::StepOptimizer() {
  ++at_.step;
  at_.schedule = setup_.schedule(at_.step);
  return setup_.made.optimizer->Step(*this).status();
}

Status LockstepQuad::StepAlone() {
  is_alone_ = true;
  const Status stepped = StepOptimizer();
  is_alone_ = false;
  return stepped;
}

Status LockstepQuad::Step(Gradients gradients) {
  ASSAY_RETURN_IF_ERROR(StepOptimizer());
  rule_->Prepare(at_, &x_);
  rule_->Update(at_, gradients == Gradients::kOwn ? gradient_of_(x_) : given_,
                &x_);
  return OkStatus();
}

Result<train::Evaluation> LockstepQuad::Evaluate() {
  ASSAY_ASSIGN_OR_RETURN(train::Evaluation evaluation, objective_->Evaluate());
  if (!is_alone_) given_ = InQuad(evaluation.gradients);
  return evaluation;
}

void LockstepQuad::Lock() {
  for (const Pair& lockstep : Tensors()) *lockstep.quad = InQuad(lockstep.own);
}

std::vector<TensorDifference> LockstepQuad::Compare() {
  const std::vector<Pair> tensors = Tensors();
  greatest_.resize(tensors.size(), 0);
  std::vector<TensorDifference> compared;
  for (size_t i = 0; i < tensors.size(); ++i) {
    compared.push_back({SpreadOf(tensors[i].own, *tensors[i].quad),
                        tensors[i].parameter, tensors[i].state});
    double& greatest = compared.back().greatest;
    greatest = greatest_[i] = std::max(greatest_[i], greatest);
  }
  return compared;
}

double LockstepQuad::Worst(double (*share_of)(const TensorDifference&)) {
  double worst = 0;
  for (const TensorDifference& difference : Compare()) {
    const double share = share_of(difference);
    if (!(share <= worst) && worst == worst) worst = share;
  }
  return worst;
}

double LockstepQuad::Difference() {
  return Worst([](const TensorDifference& difference) {
    return difference.linf == 0 ? 0 : difference.linf / difference.greatest;
  });
}

double LockstepQuad::Share() {
  return Worst(
      [](const TensorDifference& difference) { return difference.share; });
}

std::vector<LockstepQuad::Pair> LockstepQuad::Tensors() {
  std::vector<Pair> tensors;
  const auto parameters = objective_->parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    tensors.push_back({parameters[p].name, "", parameters[p].value, &x_[p]});
  }
  for (const auto& [p, state] : StateByParameter()) {
    QuadTensor* const slot = rule_->Slot(p, state.name);
    if (slot == nullptr) continue;
    tensors.push_back({state.parameter, state.name, state.value, slot});
  }
  return tensors;
}

std::vector<std::pair<size_t, train::StateTensor>>
LockstepQuad::StateByParameter() {
  std::vector<std::pair<size_t, train::StateTensor>> all;
  for (train::StateTensor& state : State()) {
    const auto owner = std::ranges::find(parameters(), state.parameter,
                                         &train::Parameter::name);
    if (owner == parameters().end()) continue;
    all.emplace_back(owner - parameters().begin(), std::move(state));
  }
  return all;
}

}  // namespace assay::quad
