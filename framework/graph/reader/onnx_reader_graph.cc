// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

using google::protobuf::RepeatedPtrField;

/// "node 3 (Conv 'layer1')".
std::string Place(int index, const onnx::NodeProto& proto) {
  return proto.name().empty()
             ? StrCat("node ", index, " (", proto.op_type(), ")")
             : StrCat("node ", index, " (", proto.op_type(), " '", proto.name(),
                      "')");
}

/// Reads one graph or function body. Names are looked up here, then in the
/// graphs around it: ONNX's lexical scoping. Nodes must stand in an order in
/// which each runs after what it reads, as ONNX demands, so that one pass finds
/// cycles and undefined names.
class GraphReader {
 public:
  GraphReader(const Opsets& opsets, const External& external,
              GraphReader* outer)
      : opsets_(opsets), external_(external), outer_(outer) {}

  Result<Graph> Read(const onnx::GraphProto& proto);
  Result<Graph> ReadBody(const onnx::FunctionProto& proto);

 private:
  Status ReadInitializers(const onnx::GraphProto& proto);
  Status AddInitializer(const std::string& name, Value value);
  Status ReadInputs(const onnx::GraphProto& proto);
  void CollectTypes(const RepeatedPtrField<onnx::ValueInfoProto>& infos);
  Status ReadNodes(const RepeatedPtrField<onnx::NodeProto>& protos);
  Status ReadNode(const onnx::NodeProto& proto, Node& node);
  Result<int> OpsetOf(const Node& node) const;

  /// A new value of this graph; an error when the name is taken.
  Result<ValueId> Define(const std::string& name);
  /// A value of this or an enclosing graph, captured; kNoValue when unknown.
  ValueId Lookup(std::string_view name);
  Status Undefined(std::string_view name) const;

  const Opsets& opsets_;
  const External& external_;
  GraphReader* const outer_;
  Graph graph_;
  // Names lie in the protos, which outlive the reader.
  std::unordered_map<std::string_view, ValueId> names_;
  std::unordered_map<std::string_view, const onnx::TypeProto*> types_;
  const RepeatedPtrField<onnx::NodeProto>* nodes_ = nullptr;
};

Result<ValueId> GraphReader::Define(const std::string& name) {
  if (name.empty()) return InvalidArgument("a value has no name");
  const auto id = static_cast<ValueId>(graph_.values.size());
  if (!names_.emplace(name, id).second) {
    return InvalidArgument("value '", name, "' is defined twice");
  }
  ValueInfo& info = graph_.values.emplace_back();
  info.name = name;
  if (const auto found = types_.find(name); found != types_.end()) {
    Result<ValueType> type = ReadType(*found->second);
    if (!type.ok()) {
      return type.status().WithContext(StrCat("value '", name, "'"));
    }
    info.type = *std::move(type);
  }
  return id;
}

ValueId GraphReader::Lookup(std::string_view name) {
  if (const auto found = names_.find(name); found != names_.end()) {
    return found->second;
  }
  if (outer_ == nullptr) return kNoValue;
  const ValueId outer = outer_->Lookup(name);
  if (outer == kNoValue) return kNoValue;
  const auto inner = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back(outer_->graph_[outer]);
  graph_.captures.push_back({outer, inner});
  names_.emplace(name, inner);
  return inner;
}

Status GraphReader::Undefined(std::string_view name) const {
  for (int i = 0; i < nodes_->size(); ++i) {
    for (const std::string& output : (*nodes_)[i].output()) {
      if (output != name) continue;
      return InvalidArgument("'", name, "' is read before ",
                             Place(i, (*nodes_)[i]),
                             " computes it: nodes are out of order or form a "
                             "cycle");
    }
  }
  if (outer_ != nullptr) return outer_->Undefined(name);
  return InvalidArgument("value '", name, "' is not defined");
}

void GraphReader::CollectTypes(
    const RepeatedPtrField<onnx::ValueInfoProto>& infos) {
  for (const onnx::ValueInfoProto& info : infos) {
    if (info.has_type()) types_.emplace(info.name(), &info.type());
  }
}

Status GraphReader::AddInitializer(const std::string& name, Value value) {
  ASSAY_ASSIGN_OR_RETURN(const ValueId id, Define(name));
  graph_[id].type = value.Type();
  graph_.initializers.push_back({id, std::move(value)});
  return OkStatus();
}

Status GraphReader::ReadInitializers(const onnx::GraphProto& proto) {
  for (const onnx::TensorProto& tensor : proto.initializer()) {
    ASSAY_ASSIGN_OR_RETURN(Tensor value, ReadTensor(tensor, external_));
    ASSAY_RETURN_IF_ERROR(AddInitializer(tensor.name(), std::move(value)));
  }
  return OkStatus();
}

Status GraphReader::ReadInputs(const onnx::GraphProto& proto) {
  std::unordered_set<std::string_view> seen;
  for (const onnx::ValueInfoProto& input : proto.input()) {
    if (!seen.insert(input.name()).second) {
      return InvalidArgument("input '", input.name(), "' is given twice");
    }
    const auto known = names_.find(input.name());
    if (known == names_.end()) {
      ASSAY_ASSIGN_OR_RETURN(const ValueId id, Define(input.name()));
      graph_.inputs.push_back(id);
    } else if (outer_ == nullptr) {
      graph_.overridable.push_back(known->second);
    } else {
      // A subgraph is always fed: its default is never used.
      const ValueId id = known->second;
      std::erase_if(graph_.initializers, [&](const Initializer& initializer) {
        return initializer.id == id;
      });
      graph_.inputs.push_back(id);
    }
  }
  return OkStatus();
}

Result<int> GraphReader::OpsetOf(const Node& node) const {
  const auto found = opsets_.find(node.domain);
  if (found != opsets_.end()) return found->second;
  return InvalidArgument("domain '",
                         node.domain.empty() ? "ai.onnx" : node.domain,
                         "' is not imported");
}

Status GraphReader::ReadNode(const onnx::NodeProto& proto, Node& node) {
  if (proto.op_type().empty()) return InvalidArgument("has no operator type");
  node.op_type = proto.op_type();
  node.domain = CanonicalDomain(proto.domain());
  node.overload = proto.overload();
  node.name = proto.name();
  ASSAY_ASSIGN_OR_RETURN(node.opset, OpsetOf(node));
  node.inputs.reserve(static_cast<size_t>(proto.input_size()));
  for (const std::string& name : proto.input()) {
    const ValueId id = name.empty() ? kNoValue : Lookup(name);
    if (id == kNoValue && !name.empty()) return Undefined(name);
    node.inputs.push_back(id);
  }
  const auto read_subgraph = [this](const onnx::GraphProto& subgraph) {
    return GraphReader(opsets_, external_, this).Read(subgraph);
  };
  node.attributes.reserve(static_cast<size_t>(proto.attribute_size()));
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (node.Find(attribute.name()) != nullptr) {
      return InvalidArgument("attribute '", attribute.name(),
                             "' is given twice");
    }
    ASSAY_ASSIGN_OR_RETURN(Attribute read,
                           ReadAttribute(attribute, external_, read_subgraph));
    node.attributes.push_back(std::move(read));
  }
  node.outputs.reserve(static_cast<size_t>(proto.output_size()));
  for (const std::string& name : proto.output()) {
    if (name.empty()) {
      node.outputs.push_back(kNoValue);
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const ValueId id, Define(name));
    node.outputs.push_back(id);
  }
  return OkStatus();
}

Status GraphReader::ReadNodes(const RepeatedPtrField<onnx::NodeProto>& protos) {
  nodes_ = &protos;
  graph_.nodes.reserve(static_cast<size_t>(protos.size()));
  for (int i = 0; i < protos.size(); ++i) {
    const Status status = ReadNode(protos[i], graph_.nodes.emplace_back());
    if (!status.ok()) return status.WithContext(Place(i, protos[i]));
  }
  return OkStatus();
}

Result<Graph> GraphReader::Read(const onnx::GraphProto& proto) {
  graph_.name = proto.name();
  const auto read = [&]() -> Status {
    nodes_ = &proto.node();
    CollectTypes(proto.input());
    CollectTypes(proto.output());
    CollectTypes(proto.value_info());
    ASSAY_RETURN_IF_ERROR(ReadInitializers(proto));
    ASSAY_RETURN_IF_ERROR(ReadInputs(proto));
    ASSAY_RETURN_IF_ERROR(ReadNodes(proto.node()));
    for (const onnx::ValueInfoProto& output : proto.output()) {
      const ValueId id = Lookup(output.name());
      if (id == kNoValue) {
        return InvalidArgument("output '", output.name(),
                               "' is not computed by any node");
      }
      graph_.outputs.push_back(id);
    }
    return OkStatus();
  };
  if (Status status = read(); !status.ok()) {
    return status.WithContext(StrCat("graph '", proto.name(), "'"));
  }
  return std::move(graph_);
}

Result<Graph> GraphReader::ReadBody(const onnx::FunctionProto& proto) {
  graph_.name = proto.name();
  CollectTypes(proto.value_info());
  for (const std::string& input : proto.input()) {
    ASSAY_ASSIGN_OR_RETURN(const ValueId id, Define(input));
    graph_.inputs.push_back(id);
  }
  ASSAY_RETURN_IF_ERROR(ReadNodes(proto.node()));
  for (const std::string& output : proto.output()) {
    const ValueId id = Lookup(output);
    if (id == kNoValue) {
      return InvalidArgument("output '", output, "' is not computed");
    }
    graph_.outputs.push_back(id);
  }
  return std::move(graph_);
}

}  // namespace

std::string_view CanonicalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Result<Opsets> ReadOpsets(
    const RepeatedPtrField<onnx::OperatorSetIdProto>& protos) {
  Opsets opsets;
  for (const onnx::OperatorSetIdProto& proto : protos) {
    if (proto.version() < 1 ||
        proto.version() > std::numeric_limits<int>::max()) {
      return InvalidArgument("imports version ", proto.version(),
                             " of domain '", proto.domain(), "'");
    }
    const auto version = static_cast<int>(proto.version());
    const auto [entry, is_new] =
        opsets.emplace(CanonicalDomain(proto.domain()), version);
    if (!is_new && entry->second != version) {
      return InvalidArgument("imports domain '", proto.domain(),
                             "' as version ", entry->second, " and as ",
                             version);
    }
  }
  return opsets;
}

Result<Graph> ReadGraph(const onnx::GraphProto& proto, const Opsets& opsets,
                        const External& external) {
  return GraphReader(opsets, external, nullptr).Read(proto);
}

Result<Function> ReadFunction(const onnx::FunctionProto& proto,
                              const External& external) {
  Function function;
  function.domain = CanonicalDomain(proto.domain());
  function.name = proto.name();
  function.overload = proto.overload();
  function.attributes = {proto.attribute().begin(), proto.attribute().end()};
  ASSAY_ASSIGN_OR_RETURN(const Opsets opsets, ReadOpsets(proto.opset_import()));
  GraphReader reader(opsets, external, nullptr);
  ASSAY_ASSIGN_OR_RETURN(Graph body, reader.ReadBody(proto));
  function.body = std::make_shared<const Graph>(std::move(body));
  // A default stands in no graph, so that it can capture nothing.
  const auto read_alone = [&](const onnx::GraphProto& graph) {
    return ReadGraph(graph, opsets, external);
  };
  for (const onnx::AttributeProto& attribute : proto.attribute_proto()) {
    ASSAY_ASSIGN_OR_RETURN(Attribute read,
                           ReadAttribute(attribute, external, read_alone));
    function.defaults.push_back(std::move(read));
  }
  const std::string bytes = proto.SerializeAsString();
  const auto serialized = std::as_bytes(std::span(bytes));
  function.bytes.assign(serialized.begin(), serialized.end());
  return function;
}

}  // namespace assay::reader
