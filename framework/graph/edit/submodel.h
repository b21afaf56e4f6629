// SPDX-License-Identifier: Apache-2.0
//
// A part of a model as a model of its own: some nodes of the main graph, fed
// what other nodes computed. For finding the node that goes wrong.
//
//   const Graph& graph = model->graph();
//   const Boundary edge = BoundaryOf(graph, nodes);
//   Submodel part{.nodes = nodes};
//   for (ValueId id : edge.inputs) part.inputs.push_back(port_of(id));
//   for (ValueId id : edge.outputs) part.outputs.push_back(port_of(id));
//   ASSAY_ASSIGN_OR_RETURN(auto small, MakeSubmodel(*model, graph, part));

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// Where some nodes meet the rest of their graph, in the order of first use.
struct Boundary {
  /// Read by the nodes or by their subgraphs, computed by none of them and no
  /// initializer.
  std::vector<ValueId> inputs;
  /// Initializers that they read.
  std::vector<ValueId> initializers;
  /// Computed by them, and either an output of the graph or read by others.
  std::vector<ValueId> outputs;
};

/// `nodes` are indices into graph.nodes, ascending.
Boundary BoundaryOf(const Graph& graph, std::span<const size_t> nodes);

/// The values that the node at that index reads, its subgraphs included.
std::vector<ValueId> ReadBy(const Node& node);

struct Port {
  ValueId id = kNoValue;
  ValueType type;
};

struct Submodel {
  std::vector<size_t> nodes;  // ascending
  std::vector<Port> inputs, outputs;
  std::map<ValueId, Value> fixed;  // in place of the model's initializers
};

/// A model of these nodes, with the model's opsets and functions, and the
/// initializers that the nodes read unless they are inputs. `graph` is the
/// model's, or that with inferred types. Invalid argument when the result is no
/// valid model; resource exhausted over 2 GiB, protobuf's limit.
Result<std::shared_ptr<const Model>> MakeSubmodel(const Model& model,
                                                  const Graph& graph,
                                                  const Submodel& part);

}  // namespace assay::edit
