// SPDX-License-Identifier: Apache-2.0
//
// Puts graphs in the place of nodes.
//
//   std::map<size_t, Graph> bodies;
//   bodies.emplace(index_of_node, std::move(body));
//   ASSAY_ASSIGN_OR_RETURN(graph, Splice(std::move(graph), std::move(bodies)));

#pragma once

#include <cstddef>
#include <map>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::reader {

/// Nodes that a graph may have once its functions are expanded: more are
/// refused as exhausted, since a few bytes can claim any number.
inline constexpr size_t kMaxExpandedNodes = 200'000;

/// `graph` with each node whose index is a key of `bodies` replaced by the
/// nodes of that body, whose Node::function becomes the label of the node that
/// they replace. Values keep their ids; new ones follow.
Result<Graph> Splice(Graph graph, std::map<size_t, Graph> bodies);

}  // namespace assay::reader
