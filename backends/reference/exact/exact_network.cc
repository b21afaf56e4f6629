// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/exact_network.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/reference/exact/exact_run.h"
#include "backends/reference/tape/trace.h"
#include "framework/backend/exact.h"
#include "framework/backend/forwarding_network.h"
#include "framework/graph/model.h"

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

class ExactNetwork final : public ForwardingNetwork, private Exact {
 public:
  ExactNetwork(std::shared_ptr<const Model> model,
               std::unique_ptr<Network> plain, std::unique_ptr<Network> traced)
      : ForwardingNetwork(std::move(plain)),
        model_(std::move(model)),
        traced_(std::move(traced)) {}

  Exact* exact() override { return this; }

 private:
  Result<std::unique_ptr<ExactRun>> At(
      std::span<const v1::Value> inputs,
      std::span<const std::string> targets) override {
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
        return InvalidArgument("target '", name, "' is ",
                               value.Type().ToString(),
                               ", wanted a tensor of floating-point numbers");
      }
      found.push_back({name, std::move(value)});
    }
    return RecordedRun::Make(*traced_, std::move(apart), std::move(found));
  }

  // An input, of those given, or an initializer.
  Result<v1::Value> Find(const std::string& target,
                         const std::vector<v1::Value>& inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (this->inputs()[i].name == target) return inputs[i];
    }
    const Graph& graph = model_->graph();
    const v1::Value* const initializer =
        graph.FindInitializer(graph.FindValue(target));
    if (initializer != nullptr) return *initializer;
    return NotFound("target '", target, "' is no input and no initializer");
  }

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Network> traced_;
};

}  // namespace

Result<std::unique_ptr<Network>> MakeExactNetwork(
    std::shared_ptr<const Model> model, std::unique_ptr<Network> plain,
    std::unique_ptr<Network> traced) {
  for (const auto& value : model->graph().values) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("value '", value.name, "'"), value.type));
  }
  return std::make_unique<ExactNetwork>(std::move(model), std::move(plain),
                                        std::move(traced));
}

}  // namespace assay::reference
