// SPDX-License-Identifier: Apache-2.0
//
// Mutants that accept what must be refused.

#include <algorithm>
#include <utility>

#include "backends/faulty/mutants.h"

namespace assay::faulty {
namespace {

/// Zeros of a declared type whose extents are all known.
Result<Value> ZerosOf(const ValueType& type) {
  const auto shape = type.StaticShape();
  if (type.kind != ValueKind::kTensor || !shape.has_value()) {
    return InvalidArgument("there are no zeros of type ", type.ToString());
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(type.dtype, *shape));
  return Value(std::move(zeros));
}

/// Zeros in place of inputs for which is_wrong(declared, given).
template <class F>
Status ReplaceInputs(std::span<const ValueInfo> declared, Values& inputs,
                     F is_wrong) {
  for (size_t i = 0; i < std::min(declared.size(), inputs.size()); ++i) {
    if (!is_wrong(declared[i].type, inputs[i].tensor())) continue;
    ASSAY_ASSIGN_OR_RETURN(inputs[i], ZerosOf(declared[i].type));
  }
  return OkStatus();
}

Status TakeAnyShape(std::span<const ValueInfo> declared, Values& inputs,
                    Values&) {
  return ReplaceInputs(
      declared, inputs, [](const ValueType& type, const Tensor* given) {
        const auto shape = type.StaticShape();
        return given != nullptr && shape.has_value() &&
               given->dtype() == type.dtype && given->shape() != *shape;
      });
}

Status TakeAnyType(std::span<const ValueInfo> declared, Values& inputs,
                   Values&) {
  return ReplaceInputs(
      declared, inputs, [](const ValueType& type, const Tensor* given) {
        return given != nullptr && type.kind == ValueKind::kTensor &&
               given->dtype() != type.dtype;
      });
}

Status TakeNothing(std::span<const ValueInfo> declared, Values& inputs,
                   Values&) {
  for (size_t i = 0; i < std::min(declared.size(), inputs.size()); ++i) {
    if (inputs[i].present() || declared[i].type.kind != ValueKind::kTensor) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(inputs[i], ZerosOf(declared[i].type));
  }
  return OkStatus();
}

Status TakeTooMany(std::span<const ValueInfo> declared, Values& inputs,
                   Values&) {
  if (inputs.size() > declared.size()) inputs.resize(declared.size());
  return OkStatus();
}

Status TakeAnySetting(std::shared_ptr<const Model>&, LoadOptions& options) {
  std::erase_if(options.settings,
                [](const auto& item) { return item.first != "mutant"; });
  return OkStatus();
}

Status TakeAnyExtraOutput(std::shared_ptr<const Model>& model,
                          LoadOptions& options) {
  std::erase_if(options.extra_outputs, [&](const std::string& name) {
    return model->graph().FindValue(name) == kNoValue;
  });
  return OkStatus();
}

/// Operators that nobody knows pass their first input on.
class Anything : public OperatorVisitor {
 public:
  Result<Kernel> VisitCustom(const Node&, LoadContext&) override {
    return Kernel{.forward = [](KernelContext& run) {
      return run.SetOutput({0, true}, run.value({0, true}));
    }};
  }
};

}  // namespace

std::vector<Mutant> LenienceMutants() {
  return {
      {.name = "any_shape_accepted", .bind = TakeAnyShape},
      {.name = "any_type_accepted", .bind = TakeAnyType},
      {.name = "absent_input_accepted", .bind = TakeNothing},
      {.name = "too_many_inputs_accepted", .bind = TakeTooMany},
      {.name = "any_setting_accepted", .load = TakeAnySetting},
      {.name = "any_extra_output_accepted", .load = TakeAnyExtraOutput},
      {"any_operator_accepted",
       {[] { return std::make_unique<Anything>(); }, {}}},
  };
}

}  // namespace assay::faulty
