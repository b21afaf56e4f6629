// SPDX-License-Identifier: Apache-2.0

#include "framework/train/graph_rule/rule_graph.h"

#include <set>
#include <string_view>

#include "framework/core/text.h"
#include "framework/graph/model_text.h"

namespace assay::train {
namespace {

/// "float[2,3] x" of ONNX's text form.
std::string Declared(DType type, const Shape& shape, std::string_view name) {
  return StrCat(type == DType::kFloat64 ? "double" : "float",
                shape.rank() == 0 ? "" : shape.ToString(), " ", name);
}

}  // namespace

Operands OperandsOfMove(const GraphRule& rule) {
  Operands operands = {{"x"}, {"x"}};
  for (const Slot& slot : rule.slots) operands.read.push_back(slot.name);
  return operands;
}

Operands OperandsOfUpdate(const GraphRule& rule) {
  Operands operands = OperandsOfMove(rule);
  operands.written = operands.read;
  operands.read.emplace_back("g");
  return operands;
}

Shape ShapeOfFactors(const Shape& parameter) {
  return parameter.rank() == 0 ? Shape() : Shape{1};
}

Result<std::shared_ptr<const Model>> ModelOf(const RuleGraph& graph,
                                             const Operands& operands,
                                             DType type, const Shape& shape) {
  if (type != DType::kFloat32 && type != DType::kFloat64) {
    return Unsupported(Reason::kDType, "found a parameter of type ",
                       ToString(type), ", wanted float32 or float64");
  }
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const std::string& name : operands.read) {
    inputs.push_back(Declared(type, shape, name));
  }
  for (const Factor& factor : graph.factors) {
    inputs.push_back(Declared(type, ShapeOfFactors(shape), factor.name));
  }
  for (const std::string& name : operands.written) {
    outputs.push_back(Declared(type, shape, StrCat("next_", name)));
  }
  return graph::ParseModelText(StrCat("rule (", Joined(inputs), ") => (",
                                      Joined(outputs), ") { ", graph.nodes,
                                      " }"));
}

Result<std::vector<std::string>> OperatorsOf(const GraphRule& rule) {
  std::set<std::string> found;
  const auto add = [&](const RuleGraph& graph,
                       const Operands& operands) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto model,
                           ModelOf(graph, operands, DType::kFloat32, Shape{1}));
    for (const Node& node : model->graph().nodes) found.insert(node.op_type);
    return OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(add(rule.update, OperandsOfUpdate(rule)));
  for (const auto& move : {rule.prepare, rule.restore}) {
    if (!move.has_value()) continue;
    ASSAY_RETURN_IF_ERROR(add(*move, OperandsOfMove(rule)));
  }
  return std::vector<std::string>(found.begin(), found.end());
}

}  // namespace assay::train
