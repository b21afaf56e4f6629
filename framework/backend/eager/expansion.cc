// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/expansion.h"

#include <map>
#include <utility>

#include "framework/graph/reader/function.h"
#include "framework/graph/reader/splice.h"

namespace assay::eager {
namespace {

using GraphPointer = std::shared_ptr<const Graph>;

// ONNX's deepest chain of functions has 4: this only bounds the recursion.
constexpr int kMaxDepth = 16;

class Expander {
 public:
  Expander(const KernelSource& kernels, const LoadOptions& options)
      : kernels_(kernels), options_(options) {}

  /// `depth` bodies lie around the graph.
  Result<Graph> Expand(const Graph& graph, const LoadScope* outer,
                       const std::vector<bool>& parameters, int depth) {
    const LoadScope scope(graph, outer, parameters);
    std::map<size_t, Graph> bodies;
    Graph expanded = graph;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      LoadContext load(node, scope, options_);
      const Status declined = kernels_.Make(node, load).status();
      if (declined.ok()) {
        ASSAY_RETURN_IF_ERROR(ExpandBelow(scope, depth, expanded.nodes[i]));
        continue;
      }
      Result<Graph> body = BodyFor(node, declined, scope, depth);
      if (!body.ok()) return body.status().WithContext(node.Label());
      bodies.emplace(i, *std::move(body));
    }
    return reader::Splice(std::move(expanded), std::move(bodies));
  }

 private:
  Result<Graph> BodyFor(const Node& node, const Status& declined,
                        const LoadScope& scope, int depth) {
    if (declined.code() != StatusCode::kUnsupported || depth >= kMaxDepth ||
        !kernels_.MayExpand(node)) {
      return declined;
    }
    Result<Graph> body =
        reader::ExpandFunction(node, {scope.types, scope.constants});
    if (!body.ok()) return Explain(declined, body.status());
    body = Expand(*body, &scope, {}, depth + 1);
    if (body.ok()) return body;
    if (declined.reason() != Reason::kOperator) return declined;
    return body.status().WithContext("in its function body");
  }

  /// Says why there is no body, where that is not what the schema says.
  static Status Explain(const Status& declined, const Status& status) {
    if (status.code() == StatusCode::kNotFound ||
        declined.reason() != Reason::kOperator) {
      return declined;
    }
    return Unsupported(Reason::kOperator, declined.message(),
                       "; its function body: ", status.message());
  }

  Status ExpandBelow(const LoadScope& scope, int depth, Node& node) {
    for (GraphPointer* held : node.MutableSubgraphs()) {
      Result<Graph> expanded = Expand(**held, &scope, {}, depth);
      if (!expanded.ok()) return expanded.status().WithContext(node.Label());
      *held = std::make_shared<const Graph>(*std::move(expanded));
    }
    return OkStatus();
  }

  const KernelSource& kernels_;
  const LoadOptions& options_;
};

}  // namespace

Result<Graph> ExpandDeclined(const Graph& graph, const LoadScope* outer,
                             const std::vector<bool>& parameters,
                             const KernelSource& kernels,
                             const LoadOptions& options) {
  return Expander(kernels, options).Expand(graph, outer, parameters, 0);
}

}  // namespace assay::eager
