// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/optimizer.h"

#include <algorithm>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

Result<Tensor> NewSlot(const Slot& slot, const Tensor& parameter) {
  if (slot.is_scalar) {
    return Tensor::Of<double>(Shape(), std::span(&slot.initial, 1));
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor tensor, Tensor::Allocate(parameter.dtype(), parameter.shape()));
  Slots none;
  ASSAY_RETURN_IF_ERROR(
      InPlace(&tensor, tensor, none, [&]<class T>(const Elements<T>& each) {
        std::ranges::fill(each.x, static_cast<T>(slot.initial));
      }));
  return tensor;
}

Status Scale(double factor, Tensor* parameter) {
  if (factor == 1) return OkStatus();
  Slots none;
  return InPlace(parameter, *parameter, none,
                 [&]<class T>(const Elements<T>& each) {
                   for (T& x : each.x) x *= static_cast<T>(factor);
                 });
}

Status Couple(double decay, const Tensor& parameter, Tensor* gradient) {
  Slots none;
  return InPlace(gradient, parameter, none,
                 [&]<class T>(const Elements<T>& each) {
                   const auto factor = static_cast<T>(decay);
                   for (size_t i = 0; i < each.x.size(); ++i) {
                     each.x[i] += factor * each.g[i];
                   }
                 });
}

/// The part that weights keep of themselves before the update.
double KeptBefore(Decay decay, const Progress& at) {
  switch (decay) {
    case Decay::kByRate:
      return 1 - at.rate * at.weight_decay;
    case Decay::kBySchedule:
      return 1 - at.schedule * at.weight_decay;
    case Decay::kCoupled:
    case Decay::kAfter:
    case Decay::kInRule:
      break;
  }
  return 1;
}

Status CheckGradients(std::span<const Parameter> parameters,
                      std::span<const Tensor> gradients) {
  if (gradients.size() != parameters.size()) {
    return InvalidArgument("found ", gradients.size(), " gradients, wanted ",
                           parameters.size());
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& value = parameters[i].value;
    if (gradients[i].dtype() == value.dtype() &&
        gradients[i].shape() == value.shape()) {
      continue;
    }
    return InvalidArgument("the gradient of '", parameters[i].name, "' is ",
                           gradients[i].Signature(), ", wanted ",
                           value.Signature());
  }
  return OkStatus();
}

}  // namespace

Status ThreeStepOptimizer::Begin(std::span<const Parameter> parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (std::ranges::count(names, parameter.name) > 0) {
      return InvalidArgument("two parameters have the name '", parameter.name,
                             "'");
    }
    names.push_back(parameter.name);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Group> groups,
                         GroupsOf(recipe_, names));
  layout_ = StateOfEach();
  if (layout_.size() > kMostSlots) {
    return Internal("found ", layout_.size(), " tensors of state, wanted ",
                    kMostSlots, " at most");
  }
  std::vector<Member> members;
  for (size_t i = 0; i < parameters.size(); ++i) {
    Member& member = members.emplace_back(Member{names[i], groups[i], {}});
    for (const Slot& slot : layout_) {
      auto made = NewSlot(slot, parameters[i].value);
      if (!made.ok()) return made.status().WithContext(names[i]);
      member.slots.push_back(*std::move(made));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(steps_, Tensor::Allocate(DType::kInt64, Shape()));
  members_ = std::move(members);
  return OkStatus();
}

Progress ThreeStepOptimizer::At(const Member& member) const {
  Progress at;
  at.step = steps_.elements<int64_t>()[0] + 1;
  at.schedule = recipe_.schedule(at.step);
  at.rate = recipe_.rate * at.schedule * member.group.rate_scale;
  at.weight_decay = member.group.weight_decay.value_or(0);
  if (recipe_.decay == Decay::kInRule) at.own_decay = at.weight_decay;
  return at;
}

Status ThreeStepOptimizer::Prepare(std::span<Parameter> parameters) {
  if (!steps_.defined()) ASSAY_RETURN_IF_ERROR(Begin(parameters));
  if (!std::ranges::equal(parameters, members_, {}, &Parameter::name,
                          &Member::name)) {
    return FailedPrecondition(
        "found the parameters ", Joined(parameters, ", ", &Parameter::name),
        ", began with ", Joined(members_, ", ", &Member::name));
  }
  ASSAY_RETURN_IF_ERROR(NewInput(At(Member())));
  for (size_t i = 0; i < parameters.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(PrepareParameter(At(members_[i]), members_[i].slots,
                                           &parameters[i].value));
  }
  return OkStatus();
}

Status ThreeStepOptimizer::Update(std::span<Parameter> parameters,
                                  std::span<Tensor> gradients) {
  ASSAY_RETURN_IF_ERROR(CheckGradients(parameters, gradients));
  ASSAY_RETURN_IF_ERROR(ClipGradients(recipe_.clip, gradients));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Progress at = At(members_[i]);
    Tensor* const parameter = &parameters[i].value;
    if (recipe_.decay == Decay::kCoupled && at.weight_decay != 0) {
      ASSAY_RETURN_IF_ERROR(Couple(at.weight_decay, *parameter, &gradients[i]));
    }
    ASSAY_RETURN_IF_ERROR(RestoreParameter(at, members_[i].slots, parameter));
    ASSAY_RETURN_IF_ERROR(Scale(KeptBefore(recipe_.decay, at), parameter));
  }
  ASSAY_RETURN_IF_ERROR(NewGradients(At(Member()), gradients));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Progress at = At(members_[i]);
    Tensor* const parameter = &parameters[i].value;
    const Status updated =
        UpdateRule(at, gradients[i], members_[i].slots, parameter);
    if (!updated.ok()) return updated.WithContext(members_[i].name);
    if (recipe_.decay == Decay::kAfter) {
      ASSAY_RETURN_IF_ERROR(Scale(1 - at.weight_decay, parameter));
    }
  }
  return OkStatus();
}

Result<double> ThreeStepOptimizer::Step(Objective& objective) {
  ASSAY_RETURN_IF_ERROR(Prepare(objective.parameters()));
  ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, objective.Evaluate());
  ASSAY_RETURN_IF_ERROR(Update(objective.parameters(), evaluation.gradients));
  ++steps_.mutable_elements<int64_t>()[0];
  return evaluation.loss;
}

std::vector<StateTensor> ThreeStepOptimizer::State() {
  std::vector<StateTensor> state;
  if (!steps_.defined()) return state;
  state.push_back({"", "steps", steps_});
  for (const Member& member : members_) {
    for (size_t i = 0; i < layout_.size(); ++i) {
      state.push_back({member.name, layout_[i].name, member.slots[i]});
    }
  }
  return state;
}

}  // namespace assay::train
