// SPDX-License-Identifier: Apache-2.0
//
// A backend that takes whole models: graphs of element-wise operators.
#include <assay/backend.h>

#include <cmath>

using namespace assay;

using Unary = float (*)(float);
const std::map<std::string, Unary> kUnary = {
    {"Abs", [](float v) { return std::fabs(v); }},
    {"Neg", [](float v) { return -v; }},
    {"Relu", [](float v) { return v < 0 ? 0 : v; }},
    {"Sqrt", [](float v) { return std::sqrt(v); }},
};
using Step = std::tuple<Unary, ValueId, ValueId>;  // what, from, to

class ExampleWholeModel : public Backend {
 public:
  std::string_view name() const override { return "example_whole_model"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    if (!options.settings.empty()) return InvalidArgument("it has no settings");
    if (!options.gradient_targets.empty() || !options.extra_outputs.empty()) {
      return Unsupported(Reason::kGradient, "it has outputs only");
    }
    const Graph& graph = model->graph();
    std::vector<Step> steps;
    for (const Node& node : graph.nodes) {
      const auto found = kUnary.find(node.domain + node.op_type);
      if (found == kUnary.end() ||
          graph[node.inputs[0]].type.dtype != DType::kFloat32) {
        return Unsupported(Reason::kOperator, node.Label(), " is no step");
      }
      steps.push_back({found->second, node.inputs[0], node.outputs[0]});
    }
    return MakeFunctionNetwork(
        std::move(signature),
        [model, &graph, steps](auto inputs) -> Result<std::vector<Value>> {
          std::vector<Value> values(graph.values.size()), outputs;
          for (const auto& [id, value] : graph.initializers) values[id] = value;
          for (size_t i = 0; const Value& v : inputs)
            values[graph.inputs[i++]] = v;
          for (const auto& [unary, from, to] : steps) {
            ASSAY_ASSIGN_OR_RETURN(Tensor y, values[from].tensor()->Clone());
            for (float& v : y.mutable_elements<float>()) v = unary(v);
            values[to] = std::move(y);
          }
          for (ValueId id : graph.outputs) outputs.push_back(values[id]);
          return outputs;
        });
  }
};

ASSAY_REGISTER_BACKEND(ExampleWholeModel);
