// SPDX-License-Identifier: Apache-2.0
//
// Program: a graph compiled to kernels, in order, with the programs of its
// subgraphs. Made once at Load (compile.h); a Frame (frame.h) runs it.
// LoadScope has what is known of a graph's values while its kernels are made.

#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager/kernel.h"
#include "framework/graph/model.h"

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
  std::vector<Step> steps;       // one per node, in order
  std::vector<ValueId> inputs;   // without an initializer
  std::vector<ValueId> outputs;  // of a main graph with the extra ones
  std::vector<Value> constants;  // parallel to graph->initializers
  /// By ValueId: an input of a main graph, or an initializer that the model
  /// fixes, so that a binding has the same tensor in each run.
  std::vector<bool> steady;
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

/// A subgraph's scope takes over what its captured values are outside.
struct LoadScope {
  /// `outer` is the enclosing graph's scope, null for a main graph.
  /// `parameters`, by ValueId or empty, are the values that may be written.
  LoadScope(const Graph& graph, const LoadScope* outer,
            const std::vector<bool>& parameters);
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

  const Graph& graph;
  /// By ValueId. The type is of kind kNone where nothing is known.
  std::vector<const ValueType*> types;
  /// By ValueId: the tensor that the model fixes, null where it does not or
  /// where it may be written.
  std::vector<const Tensor*> constants;

  /// The tensors among `constants` that the graph does not hold as such: the
  /// numbers of Constant nodes. To be kept as long as the kernels.
  std::shared_ptr<std::deque<Tensor>> made =
      std::make_shared<std::deque<Tensor>>();

 private:
  std::deque<ValueType> derived_;  // of initializers that declare none
};

/// True when a type says enough to make a kernel by.
bool IsKnown(const ValueType& type);

}  // namespace assay::eager
