// SPDX-License-Identifier: Apache-2.0
//
// A part of a graph cut out as a program of its own, with the plan of its
// gradient, for a kernel that names one (Kernel::part), and a single node cut
// out as a graph.

#pragma once

#include <memory>
#include <vector>

#include "framework/backend/eager/gradient.h"
#include "framework/backend/eager/program.h"

namespace assay::eager {

/// The nodes of `graph` between the part's inputs and its output, as a subgraph
/// that captures the fixed values they read. Its values have the ids that they
/// have in `graph`. Invalid argument when a name is no value of the graph or
/// stands twice, or the output depends on an input of the graph that is none of
/// the part's; unsupported, reason gradient, when a Gradient lies between.
Result<Graph> CutPart(const Graph& graph, const GraphPart& part);

/// Invalid argument when what is fed to the node is not one value of the same
/// element type for each of the inputs of `cut`, a part of the scope's graph.
Status CheckFed(const Node& node, const Graph& cut, const LoadScope& scope);

/// `program` is that of `graph`, which CutPart made of the graph of `outer`.
/// Unsupported, reason gradient, as PlanGradient says, or when the output is no
/// tensor of an IsGradientType.
Result<std::shared_ptr<DifferentiablePart>> MakePart(
    const GraphPart& part, std::shared_ptr<const Graph> graph, Program program,
    const LoadScope& outer, const LoadOptions& options,
    const MakeBackward& make_backward);

/// The same, differentiated by this function instead of a plan.
std::shared_ptr<DifferentiablePart> MakePart(
    const GraphPart& part, std::shared_ptr<const Graph> graph, Program program,
    DifferentiateFunction differentiate);

/// A node as a main graph, and what its inputs and outputs are to the node
/// (NodeNetwork).
struct LoneNode {
  Graph graph;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
};

/// `node` stands in the graph of `scope`. All that it and its subgraphs read is
/// an input, constants too.
LoneNode CutNode(const Node& node, const LoadScope& scope);

}  // namespace assay::eager
