// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/function_network.h"

#include <algorithm>
#include <utility>

namespace assay::inline v1 {
namespace {

class FunctionBinding final : public Binding {
 public:
  FunctionBinding(const Network* network, std::span<const Value> inputs,
                  std::span<const Value> outputs)
      : network(network),
        inputs(inputs.begin(), inputs.end()),
        given(outputs.begin(), outputs.end()) {}
  std::span<const Value> outputs() const override { return results; }

  const Network* const network;
  const std::vector<Value> inputs;
  std::vector<Value> given;  // empty, or the caller's memory where present
  std::vector<Value> results;
};

Status CopyInto(const ValueInfo& declared, const Value& result, Value* given) {
  const Tensor* const from = result.tensor();
  Tensor& to = *given->mutable_tensor();
  if (from == nullptr || from->dtype() != to.dtype() ||
      from->shape() != to.shape()) {
    return InvalidArgument("output '", declared.name, "' is ",
                           result.Type().ToString(),
                           ", which does not fit into ", to.Signature());
  }
  std::ranges::copy(from->bytes(), to.mutable_data());
  std::ranges::copy(from->strings(), to.mutable_strings().begin());
  return OkStatus();
}

class FunctionNetwork final : public Network {
 public:
  FunctionNetwork(Signature signature, NetworkFunction function)
      : signature_(std::move(signature)), function_(std::move(function)) {}

  std::span<const ValueInfo> inputs() const override {
    return signature_.inputs;
  }
  std::span<const ValueInfo> outputs() const override {
    return signature_.outputs;
  }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_RETURN_IF_ERROR(
        CheckBind(signature_.inputs, signature_.outputs, inputs, outputs));
    return std::unique_ptr<Binding>(
        std::make_unique<FunctionBinding>(this, inputs, outputs));
  }

  Status Forward(Binding& binding) override {
    auto* const own = dynamic_cast<FunctionBinding*>(&binding);
    if (own == nullptr || own->network != this) {
      return InvalidArgument("the binding was made by another network");
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> results, function_(own->inputs));
    if (results.size() != signature_.outputs.size()) {
      return Internal("found ", results.size(), " outputs, wanted ",
                      signature_.outputs.size());
    }
    for (size_t i = 0; i < own->given.size(); ++i) {
      Value& given = own->given[i];
      if (!given.present()) continue;
      ASSAY_RETURN_IF_ERROR(
          CopyInto(signature_.outputs[i], results[i], &given));
      results[i] = given;
    }
    own->results = std::move(results);
    return OkStatus();
  }

 private:
  const Signature signature_;
  const NetworkFunction function_;
};

}  // namespace

Result<Signature> SignatureOf(const Model& model, const LoadOptions& options) {
  const Graph& graph = model.graph();
  Signature signature;
  for (const ValueId id : graph.inputs) {
    signature.inputs.push_back(graph[id]);
  }
  for (const ValueId id : graph.outputs) {
    signature.outputs.push_back(graph[id]);
  }
  for (const std::string& name : options.extra_outputs) {
    const ValueId id = graph.FindValue(name);
    if (id == kNoValue) {
      return NotFound("extra output '", name, "' is no value of the graph");
    }
    signature.outputs.push_back(graph[id]);
  }
  return signature;
}

std::unique_ptr<Network> MakeFunctionNetwork(Signature signature,
                                             NetworkFunction function) {
  return std::make_unique<FunctionNetwork>(std::move(signature),
                                           std::move(function));
}

}  // namespace assay::inline v1
