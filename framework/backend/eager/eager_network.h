// SPDX-License-Identifier: Apache-2.0
//
// EagerNetwork: a compiled Program as a Network, with what it can offer beyond
// Forward.
//
//   ASSAY_ASSIGN_OR_RETURN(auto network,
//                          EagerNetwork::Load(model, kernels, "acme", {}));

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/eager/compile.h"
#include "framework/backend/eager/gradient.h"

namespace assay::eager {

class EagerNetwork final : public Network,
                           private Differentiable,
                           private Parameters,
                           private Placement {
 public:
  /// `executor` is who runs a kernel that names nobody.
  static Result<std::unique_ptr<Network>> Load(
      const std::shared_ptr<const Model>& model, const KernelSource& kernels,
      std::string_view executor, const LoadOptions& options);

  /// The same of a graph in the form that PrepareGraph gives. It has no
  /// parameters.
  static Result<std::unique_ptr<Network>> LoadGraph(
      std::shared_ptr<const Graph> graph, const KernelSource& kernels,
      std::string_view executor, const LoadOptions& options);

  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override;
  Status Forward(Binding& binding) override;

  Differentiable* differentiable() override {
    return plan_.has_value() ? this : nullptr;
  }
  Parameters* parameters() override {
    return offers_parameters_ ? this : nullptr;
  }
  Placement* placement() override { return this; }

 private:
  EagerNetwork() = default;

  /// Makes the program of the graph, and all that is offered.
  Status Finish(const KernelSource& kernels, const LoadOptions& options);
  /// Makes the program, with function bodies where kernels are missing.
  Status MakeProgram(const KernelSource& kernels, const LoadOptions& options);
  Status FindParameters(const Model& model, const LoadOptions& options);
  Status AddOutputs(const LoadOptions& options);
  void Declare(const LoadScope& scope);

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override;
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override;
  Status RunBackward(GradientBinding& bound) override;

  std::vector<std::string> List() const override;
  Result<Tensor> Read(std::string_view name) const override;
  Status Write(std::string_view name, const Tensor& value) override;
  Result<Tensor> Memory(std::string_view name) override;
  /// Index among the program's constants.
  Result<size_t> FindParameter(std::string_view name) const;

  std::vector<PlacedNode> Placed() const override;

  std::shared_ptr<const Graph> graph_;
  Program program_;
  std::optional<GradientPlan> plan_;
  std::vector<bool> is_parameter_;  // by ValueId
  bool offers_parameters_ = false;
  std::set<size_t> own_;  // constants in memory of this network's alone
  std::string executor_;
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
};

}  // namespace assay::eager
