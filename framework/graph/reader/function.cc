// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/reader/function.h"

#include <algorithm>
#include <exception>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "framework/graph/onnx_writer.h"
#include "framework/graph/operator.h"
#include "framework/graph/reader/onnx_reader.h"
#include "onnx/defs/schema.h"
#include "onnx/shape_inference/attribute_binder.h"

namespace assay::reader {
namespace {

using onnx::FunctionProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::OpSchema;
using SharedGraph = std::shared_ptr<const Graph>;

// A fixed value takes part in inference when it may be a shape, axes, scales.
constexpr int64_t kMostFixed = 64;

/// A call, as a message whose values are named by their ids.
struct Call {
  const Node& node;
  const KnownValues& known;
  NodeProto proto;
  std::vector<ValueId> captured;  // by subgraphs, beyond the inputs
};

std::string NameOf(ValueId id) {
  return id == kNoValue ? std::string() : StrCat("outer_", id);
}

Call WriteCall(const Node& node, const KnownValues& known) {
  Call call{node, known, {}, {}};
  graph::Names names(known.types.size());
  for (size_t id = 0; id < names.size(); ++id) {
    names[id] = NameOf(static_cast<ValueId>(id));
  }
  graph::WriteNode(node, names, call.proto);
  for (const Graph* body : node.Subgraphs()) {
    for (const Capture& capture : body->captures) {
      call.captured.push_back(capture.outer);
    }
  }
  return call;
}

/// Clears the reading of `absent` formal inputs, which the call omits.
void ClearAbsent(google::protobuf::RepeatedPtrField<NodeProto>& nodes,
                 const std::unordered_set<std::string>& absent) {
  if (absent.empty()) return;
  for (NodeProto& node : nodes) {
    for (std::string& input : *node.mutable_input()) {
      if (absent.contains(input)) input.clear();
    }
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      ClearAbsent(*attribute.mutable_g()->mutable_node(), absent);
    }
  }
}

/// Makes a body's graph, in a model that is used again for the next.
class BodyMaker {
 public:
  BodyMaker(ModelProto& scratch, const fs::path& directory)
      : scratch_(scratch), directory_(directory) {}

  /// `body` is one whose attributes refer to the call's; it is used up.
  Result<Graph> Make(const Call& call, FunctionProto& body) {
    const Node& node = call.node;
    if (static_cast<int>(node.inputs.size()) > body.input_size() ||
        static_cast<int>(node.outputs.size()) > body.output_size()) {
      return InvalidArgument(node.Label(), " has ", node.inputs.size(),
                             " inputs and ", node.outputs.size(),
                             " outputs, its function has ", body.input_size(),
                             " and ", body.output_size());
    }
    scratch_.clear_graph();
    *scratch_.mutable_opset_import() = body.opset_import();
    inputs_.clear();
    DeclareInputs(call, body);
    onnx::GraphProto& graph = *scratch_.mutable_graph();
    graph.set_name(node.op_type);
    graph.mutable_node()->Swap(body.mutable_node());
    // A body made for this call may lack the outputs that it omits.
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      graph.add_output()->set_name(body.output(static_cast<int>(i)));
    }
    ASSAY_RETURN_IF_ERROR(RunInference(scratch_));
    graph.clear_initializer();
    // The types that the function states count where nothing is inferred.
    graph.mutable_value_info()->MergeFrom(body.value_info());
    ASSAY_ASSIGN_OR_RETURN(const Opsets opsets,
                           ReadOpsets(body.opset_import()));
    ASSAY_ASSIGN_OR_RETURN(Graph read, ReadGraph(graph, opsets, directory_));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      read.captures.push_back({inputs_[i], read.inputs[i]});
    }
    read.inputs.clear();
    std::vector<ValueId> outputs;
    size_t next = 0;
    for (const ValueId id : node.outputs) {
      outputs.push_back(id == kNoValue ? kNoValue : read.outputs[next++]);
    }
    read.outputs = std::move(outputs);
    return read;
  }

 private:
  void DeclareInputs(const Call& call, FunctionProto& body) {
    const Node& node = call.node;
    std::unordered_set<std::string> absent;
    for (int i = 0; i < body.input_size(); ++i) {
      const auto at = static_cast<size_t>(i);
      const ValueId id = at < node.inputs.size() ? node.inputs[at] : kNoValue;
      if (id == kNoValue) {
        absent.insert(body.input(i));
      } else {
        Declare(body.input(i), id, call.known);
      }
    }
    std::unordered_set<ValueId> seen;
    for (const ValueId id : call.captured) {
      if (seen.insert(id).second) Declare(NameOf(id), id, call.known);
    }
    ClearAbsent(*body.mutable_node(), absent);
  }

  void Declare(const std::string& name, ValueId id, const KnownValues& known) {
    const auto at = static_cast<size_t>(id);
    onnx::GraphProto& graph = *scratch_.mutable_graph();
    graph::WriteInfo(name, *known.types[at], *graph.add_input());
    inputs_.push_back(id);
    if (at >= known.constants.size() || known.constants[at] == nullptr) return;
    if (known.constants[at]->num_elements() > kMostFixed) return;
    onnx::TensorProto& fixed = *graph.add_initializer();
    graph::WriteTensor(*known.constants[at], fixed);
    fixed.set_name(name);
  }

  ModelProto& scratch_;
  const fs::path& directory_;
  std::vector<ValueId> inputs_;  // of the body, in the graph around it
};

void Bind(const NodeProto& call, FunctionProto& body) {
  onnx::internal::AttributeMap attributes;
  for (const auto& preset : body.attribute_proto()) {
    attributes[preset.name()] = &preset;
  }
  for (const auto& given : call.attribute()) attributes[given.name()] = &given;
  onnx::internal::AttributeBinder(attributes).VisitFunction(body);
}

/// The greatest of `versions` that is not above `opset`; 0 when there is none.
int Newest(const std::vector<int>& versions, int opset) {
  int newest = 0;
  for (const int version : versions) {
    if (version <= opset && version > newest) newest = version;
  }
  return newest;
}

Status NoBody(const Node& node) {
  return NotFound(node.Label(), " has no function body");
}

/// The schema's body for these types and attributes. Not as a Result: its
/// symbols would be exported, and name protobuf.
Status MakeBody(const OpSchema& schema, const Call& call, FunctionProto& body) {
  if (schema.HasFunction()) {
    const FunctionProto* const fixed = schema.GetFunction(call.node.opset);
    if (fixed == nullptr) return NoBody(call.node);
    body = *fixed;
  } else {
    std::vector<onnx::TypeProto> types;
    for (const ValueId id : call.node.inputs) {
      onnx::TypeProto& type = types.emplace_back();
      if (id == kNoValue) continue;
      graph::WriteType(*call.known.types[static_cast<size_t>(id)], type);
    }
    const int version = Newest(
        schema.context_dependent_function_opset_versions(), call.node.opset);
    if (version == 0) return NoBody(call.node);
    const onnx::FunctionBodyBuildContextImpl context(call.proto, types);
    if (!schema.BuildContextDependentFunction(context, body, version)) {
      return NoBody(call.node);
    }
  }
  for (const auto& [name, attribute] : schema.attributes()) {
    if (attribute.default_value.name().empty()) continue;
    *body.add_attribute_proto() = attribute.default_value;
  }
  // A body in another domain than ai.onnx may leave out what it imports.
  const auto is_onnx = [](const auto& import) {
    return CanonicalDomain(import.domain()).empty();
  };
  if (std::ranges::none_of(body.opset_import(), is_onnx)) {
    body.add_opset_import()->set_version(NewestOpset(""));
  }
  Bind(call.proto, body);
  return OkStatus();
}

Result<Graph> ExpandOperator(const Node& node, const KnownValues& known) {
  const OpSchema* const schema =
      onnx::OpSchemaRegistry::Schema(node.op_type, node.opset, node.domain);
  if (schema == nullptr ||
      (!schema->HasFunction() && !schema->HasContextDependentFunction())) {
    return NoBody(node);
  }
  const Call call = WriteCall(node, known);
  FunctionProto body;
  ASSAY_RETURN_IF_ERROR(MakeBody(*schema, call, body));
  ModelProto scratch;
  scratch.set_ir_version(onnx::IR_VERSION);
  ASSAY_ASSIGN_OR_RETURN(Graph graph, BodyMaker(scratch, {}).Make(call, body));
  return ToCurrentOpset(std::move(graph));
}

class Inliner {
 public:
  explicit Inliner(const Model& model) : model_(model) {
    scratch_.set_ir_version(model.ir_version());
    for (const Function& function : model.functions()) {
      index_.emplace(Key(function.domain, function.name, function.overload),
                     scratch_.functions_size());
      FunctionProto& proto = *scratch_.add_functions();
      proto.ParseFromArray(function.bytes.data(),
                           static_cast<int>(function.bytes.size()));
    }
  }

  bool Calls(const Graph& graph) const {
    for (const Node& node : graph.nodes) {
      if (Find(node) >= 0 || HasCall(node)) return true;
    }
    return false;
  }

  /// `outer` are the fixed values of the graph around.
  Result<Graph> Inline(Graph graph, std::span<const Tensor* const> outer) {
    const std::vector<const Tensor*> constants = Constants(graph, outer);
    std::vector<const ValueType*> types;
    for (const ValueInfo& info : graph.values) types.push_back(&info.type);
    std::map<size_t, Graph> bodies;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      Node& node = graph.nodes[i];
      if (const int index = Find(node); index >= 0) {
        FunctionProto body = scratch_.functions(index);
        const KnownValues known{types, constants};
        const Call call = WriteCall(node, known);
        Bind(call.proto, body);
        Result<Graph> made =
            BodyMaker(scratch_, model_.directory()).Make(call, body);
        if (!made.ok()) return made.status().WithContext(node.Label());
        ASSAY_ASSIGN_OR_RETURN(Graph inlined,
                               Inline(*std::move(made), constants));
        bodies.emplace(i, std::move(inlined));
      } else if (HasCall(node)) {
        ASSAY_RETURN_IF_ERROR(InlineBelow(node, constants));
      }
    }
    return Splice(std::move(graph), std::move(bodies));
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  int Find(const Node& node) const {
    const auto found =
        index_.find(Key(node.domain, node.op_type, node.overload));
    return found == index_.end() ? -1 : found->second;
  }

  bool HasCall(const Node& node) const {
    return std::ranges::any_of(
        node.Subgraphs(), [this](const Graph* body) { return Calls(*body); });
  }

  Status InlineBelow(Node& node, std::span<const Tensor* const> constants) {
    for (SharedGraph* body : node.MutableSubgraphs()) {
      ASSAY_ASSIGN_OR_RETURN(Graph inlined, Inline(**body, constants));
      *body = std::make_shared<const Graph>(std::move(inlined));
    }
    return OkStatus();
  }

  static std::vector<const Tensor*> Constants(
      const Graph& graph, std::span<const Tensor* const> outer) {
    std::vector<const Tensor*> constants(graph.values.size(), nullptr);
    for (const Initializer& initializer : graph.initializers) {
      constants[static_cast<size_t>(initializer.id)] =
          initializer.value.tensor();
    }
    for (const Capture& capture : graph.captures) {
      constants[static_cast<size_t>(capture.inner)] =
          outer[static_cast<size_t>(capture.outer)];
    }
    return constants;
  }

  const Model& model_;
  ModelProto scratch_;
  std::map<Key, int> index_;  // among scratch_'s functions
};

/// ONNX reports errors by exceptions, which end here.
template <class Work>
Result<Graph> Guarded(const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return InvalidArgument("the function cannot be expanded: ", error.what());
  }
}

/// Builds the graph that holds the bodies.
class Splicer {
 public:
  explicit Splicer(Graph graph) : graph_(std::move(graph)) {
    nodes_.swap(graph_.nodes);
    for (const ValueInfo& info : graph_.values) names_.insert(info.name);
  }

  Result<Graph> Run(std::map<size_t, Graph> bodies) {
    size_t count = nodes_.size();
    for (const auto& [index, body] : bodies) count += body.nodes.size();
    if (count > kMaxExpandedNodes) {
      return ResourceExhausted("the functions expand to ", count,
                               " nodes, wanted at most ", kMaxExpandedNodes);
    }
    graph_.nodes.reserve(count);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto body = bodies.find(i);
      if (body == bodies.end()) {
        graph_.nodes.push_back(std::move(nodes_[i]));
      } else {
        Insert(nodes_[i], std::move(body->second));
      }
    }
    return std::move(graph_);
  }

 private:
  static std::string PrefixOf(const Graph& graph, const Node& call) {
    for (const ValueId id : call.outputs) {
      if (id != kNoValue) return graph[id].name;
    }
    return call.op_type;
  }

  ValueId Add(const std::string& prefix, ValueInfo info) {
    std::string name = StrCat(prefix, "/", info.name);
    while (!names_.insert(name).second) name += '_';
    graph_.values.push_back({std::move(name), std::move(info.type)});
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  /// Where the values of a body lie in the graph around it. An output that the
  /// body computes is the call's; any other is copied to it by a node.
  std::vector<ValueId> Place(const Node& call, Graph& body) {
    std::vector<ValueId> ids(body.values.size(), kNoValue);
    std::vector<bool> placed(ids.size(), false);
    for (const Capture& capture : body.captures) {
      ids[static_cast<size_t>(capture.inner)] = capture.outer;
      placed[static_cast<size_t>(capture.inner)] = true;
    }
    std::vector<bool> computed(ids.size(), false);
    for (const Node& node : body.nodes) {
      for (const ValueId id : node.outputs) {
        if (id != kNoValue) computed[static_cast<size_t>(id)] = true;
      }
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i] == kNoValue) continue;
      const auto inner = static_cast<size_t>(body.outputs.at(i));
      if (!computed[inner] || placed[inner]) {
        copies_.push_back({body.outputs[i], call.outputs[i]});
        continue;
      }
      ids[inner] = call.outputs[i];
      placed[inner] = true;
      ValueType& type = graph_[call.outputs[i]].type;
      if (type.kind == ValueKind::kNone) type = body.values[inner].type;
    }
    const std::string prefix = PrefixOf(graph_, call);
    for (size_t id = 0; id < ids.size(); ++id) {
      if (!placed[id]) ids[id] = Add(prefix, std::move(body.values[id]));
    }
    return ids;
  }

  void Insert(const Node& call, Graph body) {
    const std::vector<ValueId> ids = Place(call, body);
    const std::string label = call.Label();
    for (Initializer& initializer : body.initializers) {
      graph_.initializers.push_back({ids[static_cast<size_t>(initializer.id)],
                                     std::move(initializer.value)});
    }
    for (Node& node : body.nodes) {
      Move(ids, node);
      node.function = label;
      graph_.nodes.push_back(std::move(node));
    }
    for (const auto& [inner, outer] : copies_) {
      Node copy;
      copy.op_type = "Identity";
      copy.opset = NewestOpset("");
      copy.inputs = {ids[static_cast<size_t>(inner)]};
      copy.outputs = {outer};
      copy.function = label;
      graph_.nodes.push_back(std::move(copy));
    }
    copies_.clear();
  }

  static void Move(const std::vector<ValueId>& ids, Node& node) {
    for (auto* list : {&node.inputs, &node.outputs}) {
      for (ValueId& id : *list) {
        if (id != kNoValue) id = ids[static_cast<size_t>(id)];
      }
    }
    for (SharedGraph* graph : node.MutableSubgraphs()) Move(ids, *graph);
  }

  static void Move(const std::vector<ValueId>& ids, SharedGraph& graph) {
    if (graph->captures.empty()) return;
    Graph moved = *graph;
    for (Capture& capture : moved.captures) {
      capture.outer = ids[static_cast<size_t>(capture.outer)];
    }
    graph = std::make_shared<const Graph>(std::move(moved));
  }

  Graph graph_;
  std::vector<Node> nodes_;  // before
  std::unordered_set<std::string> names_;
  std::vector<std::pair<ValueId, ValueId>> copies_;  // in the body, outside
};

}  // namespace

Result<Graph> ExpandFunction(const Node& node, const KnownValues& known) {
  return Guarded([&] { return ExpandOperator(node, known); });
}

bool CallsFunctions(const Model& model) {
  return !model.functions().empty() && Inliner(model).Calls(model.graph());
}

Result<Graph> InlineFunctions(Graph graph, const Model& model) {
  return Guarded([&] { return Inliner(model).Inline(std::move(graph), {}); });
}

Result<Graph> Splice(Graph graph, std::map<size_t, Graph> bodies) {
  if (bodies.empty()) return graph;
  return Splicer(std::move(graph)).Run(std::move(bodies));
}

}  // namespace assay::reader
