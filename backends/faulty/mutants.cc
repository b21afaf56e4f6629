// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/mutants.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

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

}  // namespace assay::faulty
