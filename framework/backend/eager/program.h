// SPDX-License-Identifier: Apache-2.0
//
// Program: a graph compiled to kernels, in order, with the programs of its
// subgraphs. Made once at Load (compile.h); a Frame (frame.h) runs it.
//
//   for (const Step& step : program.steps) Print(step.node->Label());

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager/kernel.h"

namespace assay::eager {

struct Program;
struct DifferentiablePart;
class Frame;  // frame.h

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
  bool saves = false;            // backward will want what the kernel saves
  bool prepares_within = false;  // a kernel of its subgraphs or part prepares
};

struct Program {
  const Graph* graph = nullptr;
  std::vector<Step> steps;           // one per node, in order
  std::vector<ValueId> inputs;       // without an initializer
  std::vector<ValueId> outputs;      // of a main graph with the extra ones
  std::vector<Value> constants;      // parallel to graph->initializers
  std::shared_ptr<const void> kept;  // what kernels may point at
  bool prepares = false;             // a kernel prepares, here or within
};

/// A part of the graph that a kernel names (Kernel::part), compiled with what
/// differentiates it (part.h).
struct DifferentiablePart {
  virtual ~DifferentiablePart() = default;

  /// As KernelContext::Differentiate. `frame` is one of `program`.
  virtual Result<std::vector<Value>> Differentiate(
      Frame& frame, std::span<const Value> inputs) const = 0;

  std::shared_ptr<const Graph> graph;  // what `program` points at
  Program program;
};

}  // namespace assay::eager
