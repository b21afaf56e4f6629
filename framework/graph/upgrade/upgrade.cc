// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/upgrade/upgrade.h"

#include <algorithm>
#include <iterator>

namespace assay::upgrade {
namespace {

using SharedGraph = std::shared_ptr<const Graph>;

/// True when a domain is ONNX's, whose operators the table knows.
bool IsOnnxDomain(const Node& node) { return NewestOpset(node.domain) > 0; }

/// The version the node is of; the opset for an operator that ONNX lacks.
int VersionOf(const Node& node) {
  const auto id = FindOperator(node.domain, node.op_type);
  return id.has_value()
             ? VersionInForce(Operators()[static_cast<size_t>(*id)], node.opset)
             : node.opset;
}

const UpgradeStep* FindStep(std::string_view op_type, int version) {
  const auto table = UpgradeTable();
  const auto found = std::ranges::find_if(table, [&](const UpgradeStep& step) {
    return step.op_type == op_type && step.from <= version && version < step.to;
  });
  return found == table.end() ? nullptr : &*found;
}

/// A deprecated operator is current when nothing has taken its place.
bool IsCurrent(const Node& node, int version) {
  const auto id = FindOperator(node.domain, node.op_type);
  if (!id.has_value()) return false;
  const OperatorInfo& info = Operators()[static_cast<size_t>(*id)];
  return info.versions.back() == version &&
         (!info.deprecated || FindStep(info.name, version) == nullptr);
}

/// A node of ONNX's that is not current, or of an opset that is not known yet.
bool IsOld(const Node& node) {
  return IsOnnxDomain(node) && (node.opset > NewestOpset(node.domain) ||
                                !IsCurrent(node, VersionOf(node)));
}

Status UpgradeNode(NodeUpgrade& upgrade) {
  const Node& node = upgrade.node;
  if (node.opset > NewestOpset(node.domain)) {
    return upgrade.Decline("wanted at most ", NewestOpset(node.domain));
  }
  int version = VersionOf(node);
  if (version == 0) {
    return InvalidArgument(node.Label(), ": the operator does not exist in ",
                           "opset ", node.opset);
  }
  while (!IsCurrent(node, version)) {
    const UpgradeStep* const step = FindStep(node.op_type, version);
    const bool known = FindOperator(node.domain, node.op_type).has_value();
    if (step == nullptr && !known) return UnknownOperator(node);
    if (step == nullptr) {
      return upgrade.Decline("version ", version,
                             " cannot be brought to the current one");
    }
    ASSAY_RETURN_IF_ERROR(step->rule(upgrade));
    if (upgrade.replaced) return OkStatus();
    version = step->to;
  }
  upgrade.node.opset = NewestOpset(node.domain);
  return OkStatus();
}

bool HasOldNodes(const Graph& graph) {
  bool found = false;
  ForEachGraph(graph, [&found](const Graph& inner) {
    found = found || std::ranges::any_of(inner.nodes, IsOld);
  });
  return found;
}

Status UpgradeSubgraphs(Node& node) {
  for (Attribute& attribute : node.attributes) {
    auto* body = std::get_if<SharedGraph>(&attribute.held);
    if (body == nullptr || !HasOldNodes(**body)) continue;
    Result<Graph> current = ToCurrentOpset(**body);
    if (!current.ok()) {
      return current.status().WithContext(
          StrCat(node.Label(), ", ", attribute.name));
    }
    *body = std::make_shared<const Graph>(*std::move(current));
  }
  return OkStatus();
}

void Append(std::vector<Node>& nodes, std::vector<Node> more) {
  nodes.insert(nodes.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

}  // namespace
}  // namespace assay::upgrade

namespace assay::inline v1 {

bool IsCurrent(const Graph& graph) { return !upgrade::HasOldNodes(graph); }

Result<Graph> ToCurrentOpset(Graph graph) {
  if (!upgrade::HasOldNodes(graph)) return graph;
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size());
  for (Node& old : graph.nodes) {
    ASSAY_RETURN_IF_ERROR(upgrade::UpgradeSubgraphs(old));
    if (!upgrade::IsOld(old)) {
      nodes.push_back(std::move(old));
      continue;
    }
    upgrade::NodeUpgrade upgrade(graph, nodes, std::move(old));
    ASSAY_RETURN_IF_ERROR(upgrade::UpgradeNode(upgrade));
    upgrade::Append(nodes, std::move(upgrade.before));
    if (!upgrade.replaced) nodes.push_back(std::move(upgrade.node));
    upgrade::Append(nodes, std::move(upgrade.after));
  }
  graph.nodes = std::move(nodes);
  return graph;
}

}  // namespace assay::inline v1

namespace assay::upgrade {

void NodeUpgrade::Drop(std::string_view name) {
  std::erase_if(node.attributes, [&](const Attribute& attribute) {
    return attribute.name == name;
  });
}

void NodeUpgrade::Set(std::string_view name, Attribute::Held held) {
  Drop(name);
  node.attributes.push_back({std::string(name), std::move(held), ""});
}

void NodeUpgrade::SetInput(size_t position, ValueId id) {
  if (node.inputs.size() <= position) {
    node.inputs.resize(position + 1, kNoValue);
  }
  node.inputs[position] = id;
}

const ValueType& NodeUpgrade::TypeOf(ValueId id) const {
  static const ValueType kNone;
  return id == kNoValue ? kNone : graph_[id].type;
}

const Tensor* NodeUpgrade::ConstantOf(ValueId id) const {
  if (id == kNoValue) return nullptr;
  if (const Value* fixed = graph_.FindInitializer(id)) return fixed->tensor();
  for (const Node& other : done_) {
    if (other.op_type != "Constant" || !other.domain.empty()) continue;
    if (other.outputs.empty() || other.outputs[0] != id) continue;
    const Attribute* const value = other.Find("value");
    return value == nullptr ? nullptr : std::get_if<Tensor>(&value->held);
  }
  return nullptr;
}

std::optional<double> NodeUpgrade::NumberOf(ValueId id) const {
  const Tensor* const tensor = ConstantOf(id);
  if (tensor == nullptr || tensor->num_elements() != 1) return std::nullopt;
  switch (tensor->dtype()) {
    case DType::kFloat32:
      return tensor->elements<float>()[0];
    case DType::kFloat64:
      return tensor->elements<double>()[0];
    case DType::kInt32:
      return tensor->elements<int32_t>()[0];
    case DType::kInt64:
      return static_cast<double>(tensor->elements<int64_t>()[0]);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> NodeUpgrade::RankOf(ValueId id) const {
  const ValueType& type = TypeOf(id);
  if (type.kind != ValueKind::kTensor || !type.dims.has_value()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(type.dims->size());
}

bool NodeUpgrade::IsRead(ValueId id) const {
  const auto reads = [&](const Graph* body) {
    return std::ranges::count(body->captures, id, &Capture::outer) > 0;
  };
  // Nodes before this one have been moved away, and cannot read its outputs.
  return std::ranges::count(graph_.outputs, id) > 0 ||
         std::ranges::any_of(graph_.nodes, [&](const Node& other) {
           return std::ranges::count(other.inputs, id) > 0 ||
                  std::ranges::any_of(other.Subgraphs(), reads);
         });
}

ValueId NodeUpgrade::AddValue(std::string_view suffix, ValueType type) {
  std::string base = node.op_type;
  for (const ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    base = graph_[output].name;
    break;
  }
  std::string name = StrCat(base, "/", suffix);
  while (graph_.FindValue(name) != kNoValue) name += '_';
  graph_.values.push_back({std::move(name), std::move(type)});
  return static_cast<ValueId>(graph_.values.size() - 1);
}

ValueId NodeUpgrade::AddConstant(std::string_view suffix, Tensor tensor) {
  const ValueId id = AddValue(suffix, ValueType::OfTensor(tensor));
  graph_.initializers.push_back({id, std::move(tensor)});
  return id;
}

Result<ValueId> NodeUpgrade::AddIntegers(std::string_view suffix,
                                         const std::vector<int64_t>& integers) {
  ASSAY_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::Of<int64_t>({static_cast<int64_t>(integers.size())}, integers));
  return AddConstant(suffix, std::move(tensor));
}

Result<ValueId> NodeUpgrade::AddScalar(std::string_view suffix, float number,
                                       ValueId like) {
  const DType type = TypeOf(like).dtype;
  if (type == DType::kFloat64) {
    const double wide = number;
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Of<double>({}, {&wide, 1}));
    return AddConstant(suffix, std::move(tensor));
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Of<float>({}, {&number, 1}));
  const ValueId constant = AddConstant(suffix, std::move(tensor));
  if (type == DType::kFloat32) return constant;
  const ValueId cast = AddValue(StrCat(suffix, "_cast"), {});
  if (type != DType::kUndefined) {
    graph_.values.back().type = ValueType::OfTensor(type, {});
  }
  before.push_back(MakeNode("CastLike", {constant, like}, cast));
  return cast;
}

Node NodeUpgrade::MakeNode(std::string_view op_type,
                           std::vector<ValueId> inputs, ValueId output) const {
  Node made;
  made.op_type = op_type;
  made.name = node.name;
  made.function = node.function;
  made.opset = NewestOpset("");
  made.inputs = std::move(inputs);
  made.outputs = {output};
  return made;
}

}  // namespace assay::upgrade
