// SPDX-License-Identifier: Apache-2.0
//
// Compile: makes a graph a Program, with the kernels of a backend's families.
// Where no kernel takes a node, the body of its operator's function in ONNX's
// schema stands in for it.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "framework/backend/eager/operator_visitor.h"
#include "framework/backend/eager/program.h"

namespace assay::eager {

/// Where the kernels of a backend come from.
struct KernelSource {
  /// The kernel of a node, from the first family that knows the operator.
  Result<Kernel> Make(const Node& node, LoadContext& load) const;

  /// True when the backend lets the node be replaced by its function body.
  bool MayExpand(const Node& node) const { return may_expand(node); }

  std::span<const std::unique_ptr<OperatorVisitor>> families;
  std::function<bool(const Node&)> may_expand;
  std::function<Result<Kernel>(Kernel, const LoadContext&)> around;
  /// As EagerBackend::MakeBackward.
  std::function<Result<BackwardFunction>(LoadContext&)> make_backward;
  /// As EagerBackend::MakeDifferentiate.
  std::function<DifferentiateFunction(const LoadOptions&)> make_differentiate;
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

/// `graph` with every node that is declined replaced by its function body, in
/// its subgraphs too. A node of a body that is declined is expanded in turn. A
/// node that was declined for want of the operator is expanded always, and the
/// error says what its body lacks; one that was declined for another reason (an
/// element type, an attribute) only when its whole body loads, else that first
/// reason stands. Parameters as Compile. Errors name the node.
Result<Graph> ExpandDeclined(const Graph& graph, const LoadScope* outer,
                             const std::vector<bool>& parameters,
                             const KernelSource& kernels,
                             const LoadOptions& options);

}  // namespace assay::eager
