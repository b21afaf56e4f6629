// SPDX-License-Identifier: Apache-2.0

#include <tuple>
#include <variant>

#include "framework/graph/reader/function.h"
#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/reader/splice.h"

namespace assay::reader {
namespace {

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

}  // namespace

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

Status CheckCalls(const std::vector<Function>& functions, const Graph& graph) {
  if (functions.empty()) return OkStatus();
  return CallGraph().Check(functions, graph);
}

}  // namespace assay::reader
