// SPDX-License-Identifier: Apache-2.0
//
// Function bodies: an operator that ONNX's schema defines by other operators,
// or a function of the model's own, as the graph of that body.
//
// A body has no inputs: it captures what the call reads, as a subgraph of the
// node would. Its outputs are parallel to the call's, kNoValue where that omits
// one. Its nodes are in their current version, its values typed by
// ONNX's shape inference, its attributes those of the call.

#pragma once

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

}  // namespace assay::reader
