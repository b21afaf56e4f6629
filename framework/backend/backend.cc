// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/backend.h"

#include <functional>
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

Status CheckOutput(const ValueInfo& declared, const Value& value) {
  if (!value.present()) return OkStatus();
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr || !tensor->defined()) {
    return InvalidArgument("output '", declared.name, "' is given as ",
                           value.Type().ToString(),
                           "; only tensors can be written into");
  }
  return CheckType("output", declared, value);
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

/// No output may share memory with one of `others`.
Status CheckApart(const ValueInfo& declared, const Value& output,
                  std::span<const ValueInfo> names,
                  std::span<const Value> others) {
  for (size_t i = 0; i < others.size(); ++i) {
    if (Overlap(output, others[i])) {
      return InvalidArgument("the memory of output '", declared.name,
                             "' overlaps that of '", names[i].name, "'");
    }
  }
  return OkStatus();
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
  if (!outputs.empty() && outputs.size() != declared_outputs.size()) {
    return InvalidArgument("found ", outputs.size(),
                           " outputs, wanted none or ",
                           declared_outputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(CheckInput(declared_inputs[i], inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueInfo& declared = declared_outputs[i];
    ASSAY_RETURN_IF_ERROR(CheckOutput(declared, outputs[i]));
    ASSAY_RETURN_IF_ERROR(
        CheckApart(declared, outputs[i], declared_inputs, inputs));
    ASSAY_RETURN_IF_ERROR(
        CheckApart(declared, outputs[i], declared_outputs, outputs.first(i)));
  }
  return OkStatus();
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
    std::string wanted;
    for (const ValueInfo& declared : network.inputs()) {
      wanted += StrCat(wanted.empty() ? "'" : ", '", declared.name, "'");
    }
    std::string names;
    for (const auto& [name, value] : inputs) {
      names += StrCat(names.empty() ? "'" : ", '", name, "'");
    }
    return InvalidArgument("found inputs ", names, ", wanted ", wanted);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Binding> binding,
                         network.Bind(values, {}));
  ASSAY_RETURN_IF_ERROR(network.Forward(*binding));
  ASSAY_RETURN_IF_ERROR(network.Synchronize());
  const auto outputs = binding->outputs();
  return std::vector<Value>(outputs.begin(), outputs.end());
}

}  // namespace assay::inline v1
