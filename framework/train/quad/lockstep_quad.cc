// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/lockstep_quad.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <stdexcept>

#include "framework/train/quad/quad_optimizers.h"

namespace assay::quad {
namespace {

/// Near the optimum a step of these keeps its length whatever the gradient, and
/// a rounding grows to it: their rates are such that they are not there by
/// then.
std::string CalmRate(const train::Preset& preset) {
  if (preset.optimizer == "rmsprop") return "rate=0.0005";
  if (preset.optimizer != "adadelta" || preset.name != "pytorch") return "";
  return "rate=0.1";
}

/// Keeps the gradients that it passes on.
class Recording : public train::Objective {
 public:
  Recording(train::Objective& inner, std::vector<QuadTensor>* given)
      : inner_(inner), given_(*given) {}

  std::span<train::Parameter> parameters() override {
    return inner_.parameters();
  }
  Result<train::Evaluation> Evaluate() override {
    ASSAY_ASSIGN_OR_RETURN(train::Evaluation evaluation, inner_.Evaluate());
    given_.clear();
    for (const Tensor& gradient : evaluation.gradients) {
      given_.push_back(InQuad(gradient));
    }
    return evaluation;
  }

 private:
  train::Objective& inner_;
  std::vector<QuadTensor>& given_;
};

template <class T>
T Made(Result<T> made) {
  if (!made.ok()) throw std::runtime_error(made.status().ToString());
  return *std::move(made);
}

}  // namespace

train::Recipe SetupRecipe() {
  return {.schedule = train::StepSchedule(0.5, {300, 700})};
}

void PrintTo(const OptimizerSpec& spec, std::ostream* out) {
  *out << spec.optimizer << " " << spec.preset << " " << spec.settings;
}

std::string OptimizerSpec::id() const {
  std::string id;
  for (const char c : StrCat(optimizer, preset, settings)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) id += c;
  }
  return id;
}

std::vector<OptimizerSpec> OptimizerSpecs() {
  std::vector<OptimizerSpec> specs = {
      {"momentum", "pytorch", "dampening=0.3"},
      {"momentum", "onnx", "dampening=0.3"},
      {"nesterov", "paper", "rate_at=outside weight_decay=0.01 decay=by_rate"},
      {"nesterov", "keras", "dampening=0.2 weight_decay=0.01"},
      {"adam", "paper", "epsilon_at=in_root"},
      {"adam", "paper", "rate=0.0005 beta1=0.5 beta2=0.9 weight_decay=0.01"},
      {"amsgrad", "pytorch", "maximum=after beta2=0.9"},
      {"adagrad", "pytorch", "rate_decay=0.01 initial=0.5"},
      {"adadelta", "pytorch", "rate=0.1 weight_decay=0.01 decay=by_schedule"},
      {"rmsprop", "pytorch", "centered=yes momentum=0.9 epsilon=1e-3"},
      {"rmsprop", "keras", "centered=yes momentum=0.9 epsilon=1e-3"},
      {"accelegrad", "paper", "norm_over=parameter diameter=3"},
      {"accelegrad", "paper", "weight_decay=0.001 decay=after"},
      {"lamb", "paper", "least=0.5 most=2"},
      {"gradient_descent", "paper", "clip_value=0.5 clip_norm=0.6"},
      {"adam", "keras", "clip_norm=0.1"},
  };
  for (const train::Preset& preset : train::Presets()) {
    specs.push_back({std::string(preset.optimizer), std::string(preset.name),
                     CalmRate(preset)});
  }
  return specs;
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
  for (const train::Parameter& parameter : objective_->parameters()) {
    x_.push_back(InQuad(parameter.value));
  }
}

Status LockstepQuad::Step(Gradients gradients) {
  ++at_.step;
  at_.schedule = setup_.schedule(at_.step);
  Recording recording(*objective_, &given_);
  ASSAY_RETURN_IF_ERROR(setup_.made.optimizer->Step(recording).status());
  rule_->Prepare(at_, &x_);
  rule_->Update(at_, gradients == Gradients::kOwn ? gradient_of_(x_) : given_,
                &x_);
  return OkStatus();
}

void LockstepQuad::Lock() {
  for (const Pair& lockstep : Tensors()) *lockstep.quad = InQuad(lockstep.own);
}

std::vector<TensorDifference> LockstepQuad::Compare() {
  const std::vector<Pair> tensors = Tensors();
  greatest_.resize(tensors.size(), 0);
  std::vector<TensorDifference> compared;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Spread spread = SpreadOf(tensors[i].own, *tensors[i].quad);
    greatest_[i] = std::max(greatest_[i], spread.greatest);
    compared.push_back({tensors[i].parameter, tensors[i].state, spread.l2,
                        spread.linf, spread.norm, greatest_[i]});
  }
  return compared;
}

double LockstepQuad::Difference() {
  double worst = 0;
  for (const TensorDifference& difference : Compare()) {
    if (!(difference.share() <= worst) && worst == worst)
      worst = difference.share();
  }
  return worst;
}

std::vector<LockstepQuad::Pair> LockstepQuad::Tensors() {
  std::vector<Pair> tensors;
  const auto parameters = objective_->parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    tensors.push_back({parameters[p].name, "", parameters[p].value, &x_[p]});
  }
  for (const train::StateTensor& state : setup_.made.optimizer->State()) {
    const auto owner =
        std::ranges::find(parameters, state.parameter, &train::Parameter::name);
    if (owner == parameters.end()) continue;
    const auto p = static_cast<size_t>(owner - parameters.begin());
    QuadTensor* const slot = rule_->Slot(p, state.name);
    if (slot == nullptr) continue;
    tensors.push_back({state.parameter, state.name, state.value, slot});
  }
  return tensors;
}

}  // namespace assay::quad
