// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/backend.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>
#include <typeinfo>
#include <utility>

namespace assay::inline v1 {
namespace {

Status CheckType(std::string_view what, const ValueInfo& declared,
                 const Value& value) {
  const ValueType actual = value.Type();
  if (Accepts(declared.type, actual)) return OkStatus();
  return InvalidArgument(what, " '", declared.name, "' is ", actual.ToString(),
                         ", wanted ", declared.type.ToString());
}

Status CheckInput(const ValueInfo& declared, const Value& value) {
  if (value.present()) return CheckType("input", declared, value);
  const ValueKind kind = declared.type.kind;
  if (kind == ValueKind::kOptional || kind == ValueKind::kNone) {
    return OkStatus();
  }
  return InvalidArgument("input '", declared.name, "' has no value, wanted ",
                         declared.type.ToString());
}

/// Checks memory that the caller gives to be written into.
Status CheckMemory(std::string_view what, const ValueInfo& declared,
                   const Value& value) {
  if (!value.present()) return OkStatus();
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr || !tensor->defined()) {
    return InvalidArgument(what, " '", declared.name, "' is given as ",
                           value.Type().ToString(),
                           "; only tensors can be written into");
  }
  return CheckType(what, declared, value);
}

bool Overlap(const Value& a, const Value& b) {
  const Tensor* x = a.tensor();
  const Tensor* y = b.tensor();
  if (x == nullptr || y == nullptr) return false;
  if (x->device() != y->device() || x->byte_size() == 0 ||
      y->byte_size() == 0) {
    return false;
  }
  const std::less<> before;
  return before(x->data(), y->data() + y->byte_size()) &&
         before(y->data(), x->data() + x->byte_size());
}

/// Memory to be written into may not be shared with one of `others`.
Status CheckApart(std::string_view what, const ValueInfo& declared,
                  const Value& value, std::span<const ValueInfo> names,
                  std::span<const Value> others) {
  for (size_t i = 0; i < others.size(); ++i) {
    if (Overlap(value, others[i])) {
      return InvalidArgument("the memory of ", what, " '", declared.name,
                             "' overlaps that of '", names[i].name, "'");
    }
  }
  return OkStatus();
}

/// Memory for what is declared, apart from each other and from `others`.
Status CheckGiven(std::string_view what, std::span<const ValueInfo> declared,
                  std::span<const Value> given,
                  std::span<const ValueInfo> other_names,
                  std::span<const Value> others) {
  if (!given.empty() && given.size() != declared.size()) {
    return InvalidArgument("found ", given.size(), " ", what,
                           "s, wanted none or ", declared.size());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(CheckMemory(what, declared[i], given[i]));
    ASSAY_RETURN_IF_ERROR(
        CheckApart(what, declared[i], given[i], other_names, others));
    ASSAY_RETURN_IF_ERROR(
        CheckApart(what, declared[i], given[i], declared, given.first(i)));
  }
  return OkStatus();
}

/// The arguments of Backward, for each run.
struct RepeatedBackward final : GradientBinding {
  std::span<const Value> gradients() const override { return results; }

  Differentiable* network = nullptr;
  Binding* binding = nullptr;
  std::vector<Value> cotangents;
  std::vector<std::string> targets;
  std::vector<bool> callers;   // by target: memory that the caller gave
  std::vector<Value> results;  // by target
};

/// Names and types of the results of a Backward, and of what else is bound.
std::vector<ValueInfo> InfosOf(std::string_view what,
                               std::span<const Value> values) {
  std::vector<ValueInfo> infos;
  for (const Value& value : values) {
    infos.push_back({StrCat(what, " ", infos.size()), value.Type()});
  }
  return infos;
}

Status CheckGradientsOf(const RepeatedBackward& bound,
                        std::span<const Value> gradients,
                        std::span<const Value> found) {
  std::vector<ValueInfo> targets = InfosOf("", found);
  for (size_t i = 0; i < targets.size(); ++i) {
    targets[i].name = bound.targets[i];
  }
  const auto outputs = bound.binding->outputs();
  std::vector<Value> others(outputs.begin(), outputs.end());
  std::vector<ValueInfo> names = InfosOf("output", outputs);
  std::ranges::copy(bound.cotangents, std::back_inserter(others));
  std::ranges::move(InfosOf("cotangent", bound.cotangents),
                    std::back_inserter(names));
  return CheckGradients(targets, gradients, names, others);
}

}  // namespace

Status CheckBind(std::span<const ValueInfo> declared_inputs,
                 std::span<const ValueInfo> declared_outputs,
                 std::span<const Value> inputs,
                 std::span<const Value> outputs) {
  if (inputs.size() != declared_inputs.size()) {
    return InvalidArgument("found ", inputs.size(), " inputs, wanted ",
                           declared_inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(CheckInput(declared_inputs[i], inputs[i]));
  }
  return CheckGiven("output", declared_outputs, outputs, declared_inputs,
                    inputs);
}

Status CheckGradients(std::span<const ValueInfo> targets,
                      std::span<const Value> gradients,
                      std::span<const ValueInfo> other_names,
                      std::span<const Value> others) {
  return CheckGiven("gradient", targets, gradients, other_names, others);
}

Result<std::vector<Value>> Run(Network& network,
                               const std::map<std::string, Value>& inputs) {
  std::vector<Value> values;
  size_t found = 0;
  for (const ValueInfo& declared : network.inputs()) {
    const auto given = inputs.find(declared.name);
    values.push_back(given == inputs.end() ? Value() : given->second);
    if (given != inputs.end()) ++found;
  }
  if (found != inputs.size()) {
    const auto quoted = [](const std::string& name) {
      return StrCat("'", name, "'");
    };
    const auto wanted = [&](const ValueInfo& each) {
      return quoted(each.name);
    };
    return InvalidArgument("found inputs ",
                           Joined(std::views::keys(inputs), ", ", quoted),
                           ", wanted ", Joined(network.inputs(), ", ", wanted));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Binding> binding,
                         network.Bind(values, {}));
  ASSAY_RETURN_IF_ERROR(network.Forward(*binding));
  ASSAY_RETURN_IF_ERROR(network.Synchronize());
  const auto outputs = binding->outputs();
  return std::vector<Value>(outputs.begin(), outputs.end());
}

Result<std::unique_ptr<GradientBinding>> Differentiable::BindBackward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets, std::span<const Value> gradients) {
  auto bound = std::make_unique<RepeatedBackward>();
  bound->network = this;
  bound->binding = &binding;
  bound->cotangents.assign(cotangents.begin(), cotangents.end());
  bound->targets.assign(targets.begin(), targets.end());
  ASSAY_ASSIGN_OR_RETURN(bound->results,
                         Backward(binding, cotangents, targets));
  ASSAY_RETURN_IF_ERROR(CheckGradientsOf(*bound, gradients, bound->results));
  bound->callers.resize(targets.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    bound->callers[i] = gradients[i].present();
    if (bound->callers[i]) bound->results[i] = gradients[i];
  }
  return std::unique_ptr<GradientBinding>(std::move(bound));
}

Status Differentiable::RunBackward(GradientBinding& bound) {
  if (typeid(bound) != typeid(RepeatedBackward) ||
      static_cast<RepeatedBackward&>(bound).network != this) {
    return InvalidArgument("the binding was made by another network");
  }
  auto& own = static_cast<RepeatedBackward&>(bound);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Value> found,
                         Backward(*own.binding, own.cotangents, own.targets));
  for (size_t i = 0; i < found.size(); ++i) {
    if (!own.callers[i]) {
      own.results[i] = std::move(found[i]);
      continue;
    }
    const Tensor& from = *found[i].tensor();
    Tensor& to = *own.results[i].mutable_tensor();
    if (from.dtype() != to.dtype() || from.shape() != to.shape()) {
      return InvalidArgument("the gradient of '", own.targets[i], "' is ",
                             from.Signature(), ", the caller's memory is ",
                             to.Signature());
    }
    std::ranges::copy(from.bytes(), to.mutable_data());
  }
  return OkStatus();
}

}  // namespace assay::inline v1
