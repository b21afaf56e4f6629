// SPDX-License-Identifier: Apache-2.0
//
// EagerBackend: a backend made of operator kernels. A vendor writes visitors,
// one per family of operators; the framework walks the graph, runs subgraphs,
// keeps what backward needs and accumulates gradients.
//
//   class Activations : public OperatorVisitor {
//     using OperatorVisitor::Visit;
//     Result<Kernel> Visit(const op::Relu& op, LoadContext& load) override;
//   };
//   class Acme : public EagerBackend {
//    public:
//     Acme() { AddFamily(std::make_unique<Activations>()); }
//     std::string_view name() const override { return "acme"; }
//     Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
//   };
//   ASSAY_REGISTER_BACKEND(Acme);

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/eager/operator_visitor.h"

namespace assay::eager {
struct KernelSource;  // compile.h, private
}  // namespace assay::eager

namespace assay::inline v1 {

/// A node of a model that is being loaded, alone in a network.
struct NodeNetwork {
  std::shared_ptr<Network> network;
  /// Positions in a GradientContext of the node, one for each input of the
  /// network. A value that the node reads twice is one input, with the first.
  std::vector<Input> inputs;
  std::vector<Output> outputs;  // one for each output of the network
};

class EagerBackend : public Backend {
 public:
  /// Families are asked in the order of addition; the first that knows the
  /// operator makes the kernel.
  void AddFamily(std::unique_ptr<OperatorVisitor> family);

  /// Types the graph, inlines the model's functions, brings operators to their
  /// current version, and makes the kernels of it and of its subgraphs. Where
  /// no kernel takes a node, the function body in ONNX's schema stands in for
  /// it, as expansion.h says; Placement tells. Offers Differentiable when
  /// options.gradient_targets is not empty; declines, reason gradient, when a
  /// kernel on the way has no backward, nor MakeBackward one, or a value there
  /// is no tensor of floats of 16 to 64 bits. Offers Parameters in mode
  /// kTraining and when a gradient target is an initializer, and Placement
  /// always.
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;

 protected:
  /// The names that LoadOptions::settings may hold.
  virtual std::vector<std::string> Settings() const { return {}; }

  /// True when a node that no kernel takes may run as its operator's function
  /// body. A backend that wants an operator in one piece or not at all says no.
  virtual bool MayExpand(const Node&) const { return true; }

  /// Wraps the kernel of a node in something of the backend's own, or declines
  /// the node.
  virtual Result<Kernel> Around(Kernel kernel, const LoadContext&) const {
    return kernel;
  }

  /// The backward of a node whose kernel has none, or that runs subgraphs.
  /// Called at Load for each such node between a gradient target and an output.
  /// Unsupported where there is none. Errors name the node.
  virtual Result<BackwardFunction> MakeBackward(LoadContext& load);

  /// How networks of these options differentiate the parts that kernels name.
  /// Empty: by the backward of the kernels in them.
  virtual DifferentiateFunction MakeDifferentiate(const LoadOptions&) {
    return nullptr;
  }

  /// The node of `load` as a network, whose inputs are all values that the node
  /// and its subgraphs read, constants included, and whose outputs are the
  /// node's. `options` names no gradient targets and no extra outputs.
  Result<NodeNetwork> LoadNode(const LoadContext& load,
                               const LoadOptions& options);

 private:
  eager::KernelSource MakeKernelSource();

  std::vector<std::unique_ptr<OperatorVisitor>> families_;
};

}  // namespace assay::inline v1
