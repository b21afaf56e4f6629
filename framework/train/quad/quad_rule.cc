// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/quad_rule.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::quad {
namespace {

/// The bound of a clip that there is not.
constexpr double kNone = std::numeric_limits<double>::infinity();

/// target += factor * other, which may be the target; nothing for a factor of
/// 0, whatever `other` holds.
void AddScaled(Quad factor, const QuadTensor& other, QuadTensor* target) {
  if (factor == 0) return;
  for (size_t i = 0; i < target->size(); ++i) {
    (*target)[i] += factor * other[i];
  }
}

void Scale(Quad factor, QuadTensor* target) {
  for (Quad& element : *target) element *= factor;
}

}  // namespace

QuadRule::QuadRule(const Settings& settings,
                   const std::vector<std::string>& slots, size_t n_parameters)
    : rate_(settings.Number("rate")),
      weight_decay_(settings.Number("weight_decay")),
      clip_value_(settings.Number("clip_value")),
      clip_norm_(settings.Number("clip_norm")),
      decay_(DecayOf(settings)),
      slots_(n_parameters) {
  for (auto& of_parameter : slots_) {
    for (const std::string& name : slots) of_parameter[name];
  }
}

void QuadRule::Prepare(const StepInfo& at, std::vector<QuadTensor>* x) {
  for (size_t p = 0; p < x->size(); ++p) {
    Lookahead(ParameterStepOf(at, p), &(*x)[p]);
  }
}

void QuadRule::Update(const StepInfo& at, std::vector<QuadTensor> gradients,
                      std::vector<QuadTensor>* x) {
  ClipByValue(&gradients);
  ClipByNorm(&gradients);
  for (size_t p = 0; p < x->size(); ++p) {
    QuadTensor& weights = (*x)[p];
    if (decay_ == Decay::kCoupled) {
      AddScaled(WeightDecay(at, p), weights, &gradients[p]);
    }
    GoBack(p, &weights);
    AddScaled(-ShrinkageBefore(at, p), weights, &weights);
  }
  Observe(gradients);
  for (size_t p = 0; p < x->size(); ++p) {
    Step(ParameterStepOf(at, p), gradients[p], &(*x)[p]);
    if (decay_ == Decay::kAfter) {
      Scale(1 - Quad(WeightDecay(at, p)), &(*x)[p]);
    }
  }
}

QuadTensor* QuadRule::Slot(size_t parameter, std::string_view name) {
  if (parameter >= slots_.size()) return nullptr;
  const auto slot = slots_[parameter].find(name);
  return slot == slots_[parameter].end() ? nullptr : &slot->second;
}

QuadTensor& QuadRule::State(size_t parameter, std::string_view name,
                            size_t size, double element) {
  QuadTensor& slot = *Slot(parameter, name);
  if (slot.empty()) slot.assign(size, element);
  return slot;
}

QuadRule::Decay QuadRule::DecayOf(const Settings& settings) {
  if (settings.Is("decay", "coupled")) return Decay::kCoupled;
  if (settings.Is("decay", "by_rate")) return Decay::kByRate;
  if (settings.Is("decay", "by_schedule")) return Decay::kBySchedule;
  if (settings.Is("decay", "after")) return Decay::kAfter;
  return Decay::kInRule;
}

double QuadRule::WeightDecay(const StepInfo& at, size_t parameter) const {
  return at.weight_decay.empty() ? weight_decay_ : at.weight_decay[parameter];
}

QuadRule::ParameterStep QuadRule::ParameterStepOf(const StepInfo& at,
                                                  size_t parameter) const {
  const double scale = at.rate_scale.empty() ? 1 : at.rate_scale[parameter];
  const double rate = rate_ * at.schedule * scale;
  const double in_rule =
      decay_ == Decay::kInRule ? WeightDecay(at, parameter) : 0;
  return {parameter, at.step, rate, in_rule};
}

void QuadRule::ClipByValue(std::vector<QuadTensor>* gradients) const {
  if (clip_value_ == kNone) return;
  const Quad c = clip_value_;
  for (QuadTensor& gradient : *gradients) {
    for (Quad& g : gradient) {
      if (g > c) g = c;
      if (g < -c) g = -c;
    }
  }
}

void QuadRule::ClipByNorm(std::vector<QuadTensor>* gradients) const {
  if (clip_norm_ == kNone) return;
  Quad sum = 0;
  for (const QuadTensor& gradient : *gradients) sum += SumOfSquares(gradient);
  const Quad norm = Root(sum);
  if (!(norm > clip_norm_)) return;
  for (QuadTensor& gradient : *gradients) Scale(clip_norm_ / norm, &gradient);
}

Quad QuadRule::ShrinkageBefore(const StepInfo& at, size_t parameter) const {
  const Quad d = WeightDecay(at, parameter);
  if (decay_ == Decay::kByRate) return ParameterStepOf(at, parameter).rate * d;
  if (decay_ == Decay::kBySchedule) return at.schedule * d;
  return 0;
}

}  // namespace assay::quad
