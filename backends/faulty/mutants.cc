// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/mutants.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "backends/faulty/numbers.h"
#include "framework/graph/operator.h"

namespace assay::faulty {
namespace {

void Erase(const OperatorAttribute& what, Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.op_type == what.op_type) {
      std::erase_if(node.attributes, [&](const Attribute& attribute) {
        return attribute.name == what.attribute;
      });
    }
    for (std::shared_ptr<const Graph>* inner : node.MutableSubgraphs()) {
      Graph changed = **inner;
      Erase(what, changed);
      *inner = std::make_shared<const Graph>(std::move(changed));
    }
  }
}

}  // namespace

std::span<const Mutant> Mutants() {
  static const std::vector<Mutant> mutants = [] {
    using Table = std::vector<Mutant> (*)();
    constexpr Table kTables[] = {
        OutputMutants, AttributeMutants, AxisMutants,   InputMutants,
        WeightMutants, RoundingMutants,  NumberMutants, FormulaMutants,
        SizeMutants,   ControlMutants,   MemoryMutants, LenienceMutants,
    };
    std::vector<Mutant> all;
    for (const Table table : kTables)
      std::ranges::move(table(), std::back_inserter(all));
    return all;
  }();
  return mutants;
}

const Mutant* FindMutant(std::string_view name) {
  const auto mutants = Mutants();
  const auto found = std::ranges::find(mutants, name, &Mutant::name);
  return found == mutants.end() ? nullptr : &*found;
}

std::shared_ptr<const Model> WithGraph(const Model& model, Graph graph) {
  return std::make_shared<const Model>(
      Model::Parts{.ir_version = model.ir_version(),
                   .opsets = model.opsets(),
                   .graph = std::move(graph),
                   .functions = model.functions(),
                   .bytes = {model.bytes().begin(), model.bytes().end()},
                   .directory = model.directory()});
}

std::optional<OperatorAttribute> IgnoredAttribute(std::string_view mutant) {
  constexpr std::string_view kRule = "ignore:";
  const size_t dot = mutant.find('.');
  if (!mutant.starts_with(kRule) || dot == mutant.npos) return std::nullopt;
  return OperatorAttribute{
      std::string(mutant.substr(kRule.size(), dot - kRule.size())),
      std::string(mutant.substr(dot + 1))};
}

std::shared_ptr<const Model> WithoutAttribute(const Model& model,
                                              const OperatorAttribute& what) {
  Graph graph = model.graph();
  Erase(what, graph);
  return WithGraph(model, std::move(graph));
}

std::optional<std::string> ScaledNode(std::string_view mutant) {
  constexpr std::string_view kRule = "scaled:";
  if (!mutant.starts_with(kRule)) return std::nullopt;
  return std::string(mutant.substr(kRule.size()));
}

Result<std::shared_ptr<const Model>> WithScaledNode(
    std::shared_ptr<const Model> model, std::string_view name) {
  constexpr double kFactor = 1.001;
  ASSAY_ASSIGN_OR_RETURN(Graph graph, InferTypes(*model));
  const auto node = std::ranges::find_if(graph.nodes, [&](const Node& each) {
    return each.name == name ||
           (!each.outputs.empty() && each.outputs[0] != kNoValue &&
            graph[each.outputs[0]].name == name);
  });
  if (node == graph.nodes.end()) return model;
  const ValueId output = node->outputs[0];
  const ValueInfo info = graph[output];
  if (!IsFloatingPoint(info.type.dtype)) {
    return InvalidArgument("the output of node '", name, "' is ",
                           info.type.ToString(),
                           ", wanted a tensor of floating-point numbers");
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor factor,
                         OfNumbers(info.type.dtype, Shape(), {kFactor}));
  const auto right = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({info.name + ".right", info.type});
  graph.values.push_back({info.name + ".factor", ValueType::OfTensor(factor)});
  graph.initializers.push_back({right + 1, std::move(factor)});
  node->outputs[0] = right;
  Node scale;
  scale.op_type = "Mul";
  scale.opset = NewestOpset("");
  scale.inputs = {right, right + 1};
  scale.outputs = {output};
  graph.nodes.insert(node + 1, std::move(scale));
  return WithGraph(*model, std::move(graph));
}

}  // namespace assay::faulty
