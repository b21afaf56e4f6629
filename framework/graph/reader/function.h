// SPDX-License-Identifier: Apache-2.0
//
// Function bodies: an operator that ONNX's schema defines by other operators,
// or a function of the model's own, as the graph of that body.
//
// A body has no inputs: it captures what the call reads, as a subgraph of the
// node would. Its outputs are parallel to the call's, kNoValue where that omits
// one. Its nodes are in their current version, its values typed by
// ONNX's shape inference, its attributes those of the call.
//
//   std::map<size_t, Graph> bodies;  // by index of the node
//   ASSAY_ASSIGN_OR_RETURN(bodies[0], ExpandFunction(graph.nodes[0], known));
//   ASSAY_ASSIGN_OR_RETURN(graph, Splice(std::move(graph), std::move(bodies)));

#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"

namespace assay::reader {

/// The known facts of the graph around a call, by ValueId. A body may depend on
/// types and on fixed values; `constants` may be empty.
struct KnownValues {
  std::span<const ValueType* const> types;
  std::span<const Tensor* const> constants;  // null: not fixed
};

/// The body of an operator's function in ONNX's schema, of the version in force
/// under the node's own opset. Not found when the operator has none, or none
/// for these types and attributes; unsupported, reason opset, when a node of
/// the body cannot be brought to its current version.
Result<Graph> ExpandFunction(const Node& node, const KnownValues& known);

/// True when the model's graph, or a subgraph, calls one of the model's
/// functions.
bool CallsFunctions(const Model& model);

/// `graph`, the model's own with its values typed, with every call of the
/// model's functions replaced by the function's body, also in subgraphs and in
/// the bodies themselves.
Result<Graph> InlineFunctions(Graph graph, const Model& model);

/// Nodes that a graph may have once its functions are expanded: more are
/// refused as exhausted, since a few bytes can claim any number.
inline constexpr size_t kMaxExpandedNodes = 200'000;

/// `graph` with each node whose index is a key of `bodies` replaced by the
/// nodes of that body, whose Node::function becomes the label of the node that
/// they replace. Values keep their ids; new ones follow.
Result<Graph> Splice(Graph graph, std::map<size_t, Graph> bodies);

}  // namespace assay::reader
