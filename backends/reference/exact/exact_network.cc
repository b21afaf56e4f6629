// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/exact_network.h"

#include <cstddef>
#include <set>

#include "backends/reference/exact/exact_run.h"
#include "backends/reference/tape/trace.h"

namespace assay::reference {
namespace {

// The inputs, each in memory of its own: a trace knows them by where they lie.
Result<std::vector<v1::Value>> Apart(std::span<const v1::Value> inputs) {
  std::set<const std::byte*> seen;
  std::vector<v1::Value> apart(inputs.begin(), inputs.end());
  for (v1::Value& input : apart) {
    const Tensor* const tensor = input.tensor();
    if (tensor == nullptr || tensor->byte_size() == 0 ||
        seen.insert(tensor->data()).second) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(
        Tensor copy,
        Tensor::FromBytes(tensor->dtype(), tensor->shape(), tensor->bytes()));
    input = v1::Value(std::move(copy));
  }
  return apart;
}

}  // namespace

Result<std::unique_ptr<Network>> ExactNetwork::Make(
    std::shared_ptr<const Model> model, std::unique_ptr<Network> plain,
    std::unique_ptr<Network> traced) {
  for (const auto& value : model->graph().values) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("value '", value.name, "'"), value.type));
  }
  return std::unique_ptr<Network>(
      new ExactNetwork(std::move(model), std::move(plain), std::move(traced)));
}

Result<v1::Value> ExactNetwork::Find(
    const std::string& target, const std::vector<v1::Value>& inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (this->inputs()[i].name == target) return inputs[i];
  }
  const Graph& graph = model_->graph();
  const v1::Value* const initializer =
      graph.FindInitializer(graph.FindValue(target));
  if (initializer != nullptr) return *initializer;
  return NotFound("target '", target, "' is no input and no initializer");
}

Result<std::unique_ptr<ExactRun>> ExactNetwork::At(
    std::span<const v1::Value> inputs, std::span<const std::string> targets) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Value> apart, Apart(inputs));
  if (apart.size() != this->inputs().size()) {
    return InvalidArgument("found ", apart.size(), " inputs, wanted ",
                           this->inputs().size());
  }
  std::vector<Target> found;
  for (const std::string& name : targets) {
    ASSAY_ASSIGN_OR_RETURN(v1::Value value, Find(name, apart));
    const Tensor* const tensor = value.tensor();
    if (tensor == nullptr || !IsFloatingPoint(tensor->dtype())) {
      return InvalidArgument("target '", name, "' is ", value.Type().ToString(),
                             ", wanted a tensor of floating-point numbers");
    }
    found.push_back({name, std::move(value)});
  }
  return RecordedRun::Make(*traced_, std::move(apart), std::move(found));
}

}  // namespace assay::reference
