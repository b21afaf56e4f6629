// SPDX-License-Identifier: Apache-2.0
//
// A backend that takes whole models: chains of element-wise operators.
#include <cmath>

#include "framework/backend/function_network.h"
#include "framework/backend/registry.h"

using namespace assay;

using Step = float (*)(float);
const std::map<std::string, Step> kSteps = {
    {"Abs", [](float v) { return std::fabs(v); }},
    {"Neg", [](float v) { return -v; }},
    {"Relu", [](float v) { return v < 0 ? 0 : v; }},
    {"Sqrt", [](float v) { return std::sqrt(v); }},
};

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
    std::vector<ValueId> value = graph.inputs;  // what the next node reads
    for (const Node& node : graph.nodes) {
      const auto step = kSteps.find(node.domain + node.op_type);
      if (step == kSteps.end() || value.size() != 1 || node.inputs != value) {
        return Unsupported(Reason::kOperator, node.Label(), " is no step");
      }
      if (graph[value[0]].type.dtype != DType::kFloat32) {
        return Unsupported(Reason::kDType, graph[value[0]].type.ToString());
      }
      steps.push_back(step->second);
      value = node.outputs;
    }
    if (steps.empty() || graph.outputs != value) {
      return Unsupported(Reason::kOperator, "the graph is no chain");
    }
    return MakeFunctionNetwork(
        std::move(signature),
        [steps](std::span<const Value> inputs) -> Result<std::vector<Value>> {
          ASSAY_ASSIGN_OR_RETURN(Tensor y, inputs[0].tensor()->Clone());
          for (float& v : y.mutable_elements<float>()) {
            for (const Step step : steps) v = step(v);
          }
          return std::vector<Value>{std::move(y)};
        });
  }
};

ASSAY_REGISTER_BACKEND(ExampleWholeModel);
