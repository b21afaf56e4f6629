// SPDX-License-Identifier: Apache-2.0
//
// Program: a graph compiled to kernels, in order, with the programs of its
// subgraphs. Made once at Load; a Frame (frame.h) runs it.
//
//   ASSAY_ASSIGN_OR_RETURN(Program program,
//                          Compile(graph, nullptr, parameters, kernels,
//                                  options));

#ifndef ASSAY_BACKEND_PROGRAM_H_
#define ASSAY_BACKEND_PROGRAM_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager.h"
#include "framework/backend/scope.h"

namespace assay::inline v1 {

struct Program;
struct DifferentiablePart;  // part.h

/// A subgraph attribute of a node.
struct Body {
  std::string attribute;
  std::unique_ptr<Program> program;
};

struct Step {
  const Node* node = nullptr;
  Kernel kernel;
  std::vector<Body> bodies;
  std::shared_ptr<DifferentiablePart> part;  // null: the kernel names none
  bool saves = false;  // backward will want what the kernel saves
};

struct Program {
  const Graph* graph = nullptr;
  std::vector<Step> steps;           // one per node, in order
  std::vector<ValueId> inputs;       // without an initializer
  std::vector<ValueId> outputs;      // of a main graph with the extra ones
  std::vector<Value> constants;      // parallel to graph->initializers
  std::shared_ptr<const void> kept;  // what kernels may point at
};

/// Where the kernels of a backend come from.
struct KernelSource {
  /// The kernel of a node, from the first family that knows the operator.
  Result<Kernel> Make(const Node& node, LoadContext& load) const;

  /// Whether the backend lets the node be replaced by its function body.
  bool MayExpand(const Node& node) const { return may_expand(node); }

  std::span<const std::unique_ptr<OperatorVisitor>> families;
  std::function<bool(const Node&)> may_expand;
  std::function<Kernel(Kernel)> around;
};

/// Makes the kernels of `graph`, which must outlive the program, and of its
/// subgraphs. Errors name the node.
Result<Program> Compile(const Graph& graph, const LoadScope* outer,
                        const std::vector<bool>& parameters,
                        const KernelSource& kernels,
                        const LoadOptions& options);

/// The graph in the form that Compile takes: the model's functions inlined,
/// operators in their current version, values typed. The model's own graph when
/// nothing is to be done.
Result<std::shared_ptr<const Graph>> PrepareGraph(
    const std::shared_ptr<const Model>& model);

}  // namespace assay::inline v1

#endif  // ASSAY_BACKEND_PROGRAM_H_
