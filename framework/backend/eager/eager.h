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

namespace assay::inline v1 {

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
  /// kernel between a target and an output has no backward, or a value there
  /// is no tensor of float32 or float64. Offers Parameters in mode kTraining
  /// and when a gradient target is an initializer, and Placement always.
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;

 protected:
  /// The names that LoadOptions::settings may hold.
  virtual std::vector<std::string> Settings() const { return {}; }

  /// True when a node that no kernel takes may run as its operator's function
  /// body. A backend that wants an operator in one piece or not at all says no.
  virtual bool MayExpand(const Node&) const { return true; }

  /// Wraps each kernel in something of the backend's own.
  virtual Kernel Around(Kernel kernel, const LoadOptions&) const {
    return kernel;
  }

 private:
  std::vector<std::unique_ptr<OperatorVisitor>> families_;
};

}  // namespace assay::inline v1
