// SPDX-License-Identifier: Apache-2.0
//
// SpoilingBackend: for tests of the judge, a backend whose training steps a
// test makes wrong.
//
//   SpoilingBackend backend(
//       reference, {.gradients = [](int64_t step, auto& g) {
//         if (step == 7) g[0].template mutable_elements<float>()[0] *= -1;
//       }});

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/forwarding_network.h"
#include "framework/backend/network_interfaces.h"

namespace assay::optdiff {

struct Spoil {
  /// Changes the gradients of a step, counted from 1.
  std::function<void(int64_t step, std::vector<Tensor>& gradients)> gradients;
  /// Changes the outputs of a step.
  std::function<void(int64_t step, std::vector<Tensor>& outputs)> outputs = {};
  /// True when later steps use the parameters of the first step.
  bool keeps_weights = false;
};

/// The tensors of values, which share their memory.
inline std::vector<Tensor> TensorsOf(std::span<const Value> values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) tensors.push_back(*value.tensor());
  return tensors;
}

class SpoilingNetwork : public ForwardingNetwork, public Differentiable {
 public:
  SpoilingNetwork(std::unique_ptr<Network> inner, const Spoil& spoil)
      : ForwardingNetwork(std::move(inner)), spoil_(spoil) {}

  Differentiable* differentiable() override { return this; }
  NativeStep* native_step() override { return nullptr; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    if (!spoil_.keeps_weights) return inner().Bind(inputs, outputs);
    std::vector<Value> kept;
    for (const Value& input : inputs) {
      ASSAY_ASSIGN_OR_RETURN(Tensor copy, input.tensor()->Clone());
      kept.emplace_back(std::move(copy));
    }
    return inner().Bind(kept, outputs);
  }
  Status Forward(Binding& binding) override {
    ASSAY_RETURN_IF_ERROR(inner().Forward(binding));
    ++step_;
    std::vector<Tensor> outputs = TensorsOf(binding.outputs());
    if (spoil_.outputs) spoil_.outputs(step_, outputs);
    return OkStatus();
  }
  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    return inner().differentiable()->Backward(binding, cotangents, targets);
  }
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override {
    return inner().differentiable()->BindBackward(binding, cotangents, targets,
                                                  gradients);
  }
  Status RunBackward(GradientBinding& bound) override {
    ASSAY_RETURN_IF_ERROR(inner().differentiable()->RunBackward(bound));
    std::vector<Tensor> gradients = TensorsOf(bound.gradients());
    if (spoil_.gradients) spoil_.gradients(step_, gradients);
    return OkStatus();
  }

 private:
  const Spoil& spoil_;
  int64_t step_ = 0;
};

/// The inner backend must outlive it.
class SpoilingBackend : public Backend {
 public:
  SpoilingBackend(Backend& inner, Spoil spoil)
      : inner_(inner), spoil_(std::move(spoil)) {}

  std::string_view name() const override { return "spoiling"; }
  Result<Probe> Inspect() override { return inner_.Inspect(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(auto network,
                           inner_.Load(std::move(model), options));
    return std::unique_ptr<Network>(
        std::make_unique<SpoilingNetwork>(std::move(network), spoil_));
  }

 private:
  Backend& inner_;
  Spoil spoil_;
};

}  // namespace assay::optdiff
