// SPDX-License-Identifier: Apache-2.0
//
// Program: a graph compiled to kernels, in order, with the programs of its
// subgraphs. Made once at Load; a Frame (frame.h) runs it.
//
//   ASSAY_ASSIGN_OR_RETURN(Program program,
//                          Compile(graph, nullptr, parameters, families,
//                                  options));

#ifndef ASSAY_BACKEND_PROGRAM_H_
#define ASSAY_BACKEND_PROGRAM_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager.h"
#include "framework/backend/scope.h"

namespace assay::inline v1 {

struct Program;

/// A subgraph attribute of a node.
struct Body {
  std::string attribute;
  std::unique_ptr<Program> program;
};

struct Step {
  const Node* node = nullptr;
  Kernel kernel;
  std::vector<Body> bodies;
  bool saves = false;  // backward will want what the kernel saves
};

struct Program {
  const Graph* graph = nullptr;
  std::vector<Step> steps;       // one per node, in order
  std::vector<ValueId> inputs;   // without an initializer
  std::vector<ValueId> outputs;  // of a main graph with the extra ones
  std::vector<Value> constants;  // parallel to graph->initializers
};

using Families = std::span<const std::unique_ptr<OperatorVisitor>>;

/// Makes the kernels of `graph`, which must outlive the program, and of its
/// subgraphs. Errors name the node.
Result<Program> Compile(const Graph& graph, const LoadScope* outer,
                        const std::vector<bool>& parameters, Families families,
                        const LoadOptions& options);

/// The graph in the form that Compile takes: operators in their current
/// version, values typed. The model's own graph when nothing is to be done.
Result<std::shared_ptr<const Graph>> PrepareGraph(
    const std::shared_ptr<const Model>& model);

}  // namespace assay::inline v1

#endif  // ASSAY_BACKEND_PROGRAM_H_
