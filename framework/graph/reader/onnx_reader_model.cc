// SPDX-License-Identifier: Apache-2.0

#include <tuple>
#include <variant>

#include "framework/graph/model.h"
#include "framework/graph/reader/function.h"
#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

template <class Message>
bool Holds(const Message& message) {
  return !message.unknown_fields().empty();
}

// Messages hold each other.
bool Unknown(const onnx::AttributeProto& attribute);
bool Unknown(const onnx::FunctionProto& function);
bool Unknown(const onnx::GraphProto& graph);
bool Unknown(const onnx::NodeProto& node);

bool Unknown(const onnx::TensorProto& tensor) { return Holds(tensor); }

bool Unknown(const onnx::SparseTensorProto& sparse) {
  return Holds(sparse) || Unknown(sparse.values()) || Unknown(sparse.indices());
}

bool Unknown(const onnx::ValueInfoProto& info) {
  return Holds(info) || Holds(info.type());
}

template <class List>
bool AnyUnknown(const List& list) {
  for (const auto& message : list) {
    if (Unknown(message)) return true;
  }
  return false;
}

bool Unknown(const onnx::AttributeProto& attribute) {
  return Holds(attribute) || (attribute.has_t() && Unknown(attribute.t())) ||
         (attribute.has_g() && Unknown(attribute.g())) ||
         (attribute.has_tp() && Holds(attribute.tp())) ||
         AnyUnknown(attribute.tensors()) || AnyUnknown(attribute.graphs());
}

bool Unknown(const onnx::NodeProto& node) {
  return Holds(node) || AnyUnknown(node.attribute());
}

bool Unknown(const onnx::FunctionProto& function) {
  return Holds(function) || AnyUnknown(function.node()) ||
         AnyUnknown(function.attribute_proto());
}

bool Unknown(const onnx::GraphProto& graph) {
  return Holds(graph) || AnyUnknown(graph.node()) ||
         AnyUnknown(graph.initializer()) ||
         AnyUnknown(graph.sparse_initializer()) || AnyUnknown(graph.input()) ||
         AnyUnknown(graph.output()) || AnyUnknown(graph.value_info());
}

/// True when there are fields that no IR version known here has.
bool HasUnknownFields(const onnx::ModelProto& model) {
  return Holds(model) || AnyUnknown(model.functions()) ||
         Unknown(model.graph());
}

/// Domain, name and overload: what identifies a function.
using Key = std::tuple<std::string, std::string, std::string>;

enum class Visit : uint8_t { kNew, kOpen, kDone };

/// Walks the calls between functions, and refuses recursion: ONNX forbids it,
/// and an expansion would not end.
class CallGraph {
 public:
  Status Check(const std::vector<Function>& functions, const Graph& graph) {
    for (const Function& function : functions) {
      const Key key(function.domain, function.name, function.overload);
      if (!states_.emplace(key, State{&function, kNew, 0}).second) {
        return InvalidArgument("function '", function.name,
                               "' is defined twice");
      }
    }
    for (auto& [key, state] : states_) ASSAY_RETURN_IF_ERROR(Enter(state));
    size_t nodes = 0;
    return Walk(graph, nodes);
  }

 private:
  using enum Visit;
  // Deeper chains of calls are refused, so that recursion is bounded here and
  // in ONNX's inference, which follows each call.
  static constexpr int kMaxDepth = 100;

  struct State {
    const Function* function = nullptr;
    Visit visit = kNew;
    size_t nodes = 0;  // once all is expanded
  };

  Status Enter(State& state) {
    if (state.visit == kDone) return OkStatus();
    if (state.visit == kOpen) {
      return InvalidArgument("function '", state.function->name,
                             "' calls itself");
    }
    if (++depth_ > kMaxDepth) {
      return ResourceExhausted("functions call each other more than ",
                               kMaxDepth, " deep");
    }
    state.visit = kOpen;
    ASSAY_RETURN_IF_ERROR(Walk(*state.function->body, state.nodes));
    size_t below = 0;
    ASSAY_RETURN_IF_ERROR(WalkAttributes(state.function->defaults, below));
    if (below > 0) {
      const size_t nodes = state.nodes;
      ASSAY_RETURN_IF_ERROR(Count(nodes, below, state.nodes));
    }
    state.visit = kDone;
    --depth_;
    return OkStatus();
  }

  /// Adds the nodes of `graph`, each call counted as its function's nodes. A
  /// graph given to a function may stand at each of these.
  Status Walk(const Graph& graph, size_t& nodes) {
    for (const Node& node : graph.nodes) {
      size_t below = 0;
      ASSAY_RETURN_IF_ERROR(WalkAttributes(node.attributes, below));
      ASSAY_RETURN_IF_ERROR(Count(1, below, nodes));
      const auto called =
          states_.find({node.domain, node.op_type, node.overload});
      if (called == states_.end()) continue;
      ASSAY_RETURN_IF_ERROR(Enter(called->second));
      ASSAY_RETURN_IF_ERROR(Count(called->second.nodes, below, nodes));
    }
    return OkStatus();
  }

  Status WalkAttributes(const std::vector<Attribute>& attributes,
                        size_t& nodes) {
    for (const Attribute& attribute : attributes) {
      const auto* body =
          std::get_if<std::shared_ptr<const Graph>>(&attribute.held);
      if (body != nullptr) ASSAY_RETURN_IF_ERROR(Walk(**body, nodes));
    }
    return OkStatus();
  }

  /// nodes += count * (1 + below), no factor of which exceeds the limit.
  static Status Count(size_t count, size_t below, size_t& nodes) {
    nodes += count * (1 + below);
    if (nodes <= kMaxExpandedNodes) return OkStatus();
    return ResourceExhausted("the functions expand to more than ",
                             kMaxExpandedNodes, " nodes");
  }

  std::map<Key, State> states_;
  int depth_ = 0;
};

Result<std::vector<Function>> ReadFunctions(const onnx::ModelProto& proto,
                                            const External& external) {
  std::vector<Function> functions;
  functions.reserve(static_cast<size_t>(proto.functions_size()));
  for (const onnx::FunctionProto& function : proto.functions()) {
    Result<Function> read = ReadFunction(function, external);
    if (!read.ok()) {
      return read.status().WithContext(
          StrCat("function '", function.name(), "'"));
    }
    functions.push_back(*std::move(read));
  }
  return functions;
}

Result<Model::Parts> ReadModel(std::span<const std::byte> bytes,
                               const External& external) {
  ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(bytes));
  onnx::ModelProto& proto = message.proto;
  if (!proto.has_graph() || proto.ir_version() < 1) {
    return InvalidArgument("is no ONNX model: it has ",
                           proto.has_graph() ? "no IR version" : "no graph");
  }
  // A newer version is read when nothing in it is new.
  if (proto.ir_version() > onnx::IR_VERSION && HasUnknownFields(proto)) {
    return Unsupported(Reason::kReader, "has IR version ", proto.ir_version(),
                       " and fields that version ", int{onnx::IR_VERSION},
                       " does not have");
  }
  Model::Parts parts;
  ASSAY_ASSIGN_OR_RETURN(const bool changed, MakeDense(external, &proto));
  if (changed) {
    const std::string dense = proto.SerializeAsString();
    const auto own = std::as_bytes(std::span(dense));
    parts.bytes.assign(own.begin(), own.end());
  }
  parts.ir_version = proto.ir_version();
  ASSAY_ASSIGN_OR_RETURN(parts.opsets, ReadOpsets(proto.opset_import()));
  // Before IR version 3 there were no imports, and one operator set.
  if (parts.opsets.empty()) parts.opsets.emplace("", 1);
  ASSAY_ASSIGN_OR_RETURN(parts.functions, ReadFunctions(proto, external));
  ASSAY_ASSIGN_OR_RETURN(parts.graph,
                         ReadGraph(proto.graph(), parts.opsets, external));
  // An error when a function calls itself, at any distance, and when the calls
  // are too deep or too many to be expanded: before ONNX's inference follows
  // them.
  if (!parts.functions.empty()) {
    ASSAY_RETURN_IF_ERROR(CallGraph().Check(parts.functions, parts.graph));
  }
  parts.directory = external.directory;
  return parts;
}

/// Files without a folder in their name lie in the current one.
fs::path DirectoryOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

Result<std::shared_ptr<const Model>> ModelMessage::Parse(
    const fs::path& directory) const {
  const std::string bytes = proto.SerializeAsString();
  return Model::Parse(std::as_bytes(std::span(bytes)), directory);
}

}  // namespace assay::reader

namespace assay::inline v1 {

Result<std::shared_ptr<const Model>> Model::Read(
    const std::filesystem::path& file, uint64_t most_external) {
  Result<std::vector<std::byte>> bytes = reader::ReadFile(file);
  if (!bytes.ok()) return bytes.status().WithContext(file.string());
  Result<Parts> parts =
      reader::ReadModel(*bytes, {reader::DirectoryOf(file), most_external});
  if (!parts.ok()) return parts.status().WithContext(file.string());
  if (parts->bytes.empty()) parts->bytes = *std::move(bytes);
  return std::make_shared<const Model>(*std::move(parts));
}

Result<std::shared_ptr<const Model>> Model::Parse(
    std::span<const std::byte> bytes, const std::filesystem::path& directory) {
  ASSAY_ASSIGN_OR_RETURN(Parts parts, reader::ReadModel(bytes, directory));
  if (parts.bytes.empty()) parts.bytes.assign(bytes.begin(), bytes.end());
  return std::make_shared<const Model>(std::move(parts));
}

}  // namespace assay::inline v1
