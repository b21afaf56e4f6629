// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/reader/splice.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "framework/graph/operator.h"

namespace assay::reader {
namespace {

using SharedGraph = std::shared_ptr<const Graph>;

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

Result<Graph> Splice(Graph graph, std::map<size_t, Graph> bodies) {
  if (bodies.empty()) return graph;
  return Splicer(std::move(graph)).Run(std::move(bodies));
}

}  // namespace assay::reader
