// SPDX-License-Identifier: Apache-2.0
//
// NativeNetwork: a network for training that takes a whole step itself.
//
//   ASSAY_ASSIGN_OR_RETURN(auto network,
//                          NativeNetwork::Load(backend, model, options, load));
//   NativeStep& native = *network->native_step();
//   ASSAY_RETURN_IF_ERROR(native.Configure("adam", {{"rate", 0.001}}));
//   ASSAY_RETURN_IF_ERROR(native.Step(*binding, "loss"));

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/native/native_update.h"
#include "framework/backend/backend.h"
#include "framework/backend/forwarding_network.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::reference {

class NativeNetwork : public ForwardingNetwork, private NativeStep {
 public:
  /// Loads a network without a step.
  using LoadPlain = std::function<Result<std::unique_ptr<Network>>(
      std::shared_ptr<const Model>, const LoadOptions&)>;

  /// In mode kTraining. A model without trainable initializers, with one that
  /// is of neither float32 nor float64, or without their gradients, is loaded
  /// as it would be without a step. The backend, which runs the updates, must
  /// outlive it.
  static Result<std::unique_ptr<Network>> Load(
      Backend& backend, const std::shared_ptr<const Model>& model,
      const LoadOptions& options, const LoadPlain& load);

  /// Null where the caller asked for none.
  Differentiable* differentiable() override {
    return shows_gradients_ ? inner().differentiable() : nullptr;
  }
  NativeStep* native_step() override { return this; }

 private:
  NativeNetwork(Backend& backend, std::unique_ptr<Network> inner,
                std::vector<std::string> parameters, bool shows_gradients)
      : ForwardingNetwork(std::move(inner)),
        backend_(backend),
        names_(std::move(parameters)),
        shows_gradients_(shows_gradients) {}

  std::vector<std::string> Optimizers() const override {
    return OptimizationNames();
  }
  Status Configure(
      std::string_view optimizer,
      const std::map<std::string, double>& hyperparameters) override;
  /// Failed precondition before Configure. A failed step may have updated some
  /// of the parameters.
  Status Step(Binding& binding, std::string_view loss) override;

  /// Of each parameter, in the order of their names.
  Result<std::vector<v1::Value>> Gradients(Binding& binding,
                                           std::string_view loss);

  Backend& backend_;
  std::vector<std::string> names_;
  bool shows_gradients_;
  std::vector<std::unique_ptr<NativeUpdate>> updates_;  // of each
};

}  // namespace assay::reference
