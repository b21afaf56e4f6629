// SPDX-License-Identifier: Apache-2.0
//
// DifferentiablePart: a part of a graph cut out as a program of its own, with
// the plan of its gradient, for a kernel that names one (Kernel::part).
//
//   ASSAY_ASSIGN_OR_RETURN(step.part,
//                          CompilePart(node, *kernel.part, scope, kernels,
//                                      options));
//   Frame frame(step.part->program, &outer, {});
//   ASSAY_ASSIGN_OR_RETURN(auto gradients,
//                          Differentiate(*step.part, frame, inputs));

#ifndef ASSAY_BACKEND_PART_H_
#define ASSAY_BACKEND_PART_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/gradient.h"

namespace assay::inline v1 {

struct DifferentiablePart {
  std::shared_ptr<const Graph> graph;  // what `program` points at
  Program program;
  GradientPlan plan;
  std::vector<std::string> targets;
};

/// The nodes of `graph` between the part's inputs and its output, as a subgraph
/// that captures the fixed values they read. Its values have the ids that they
/// have in `graph`. Invalid argument when a name is no value of the graph or
/// stands twice, or the output depends on an input of the graph that is none of
/// the part's; unsupported, reason gradient, when a Gradient lies between.
Result<Graph> CutPart(const Graph& graph, const GraphPart& part);

/// The part that the kernel of `node` names, from the graph of `scope`.
/// Unsupported, reason gradient, as PlanGradient says, or when the output is no
/// tensor of float32 or float64; invalid argument as CutPart, and when what is
/// fed to the node is of another element type than the part's input.
Result<std::shared_ptr<DifferentiablePart>> CompilePart(
    const Node& node, const GraphPart& part, const LoadScope& scope,
    const KernelSource& kernels, const LoadOptions& options);

/// As KernelContext::Differentiate. `frame` is one of the part's program.
Result<std::vector<Value>> Differentiate(const DifferentiablePart& part,
                                         Frame& frame,
                                         std::span<const Value> inputs);

}  // namespace assay::inline v1

#endif  // ASSAY_BACKEND_PART_H_
