// SPDX-License-Identifier: Apache-2.0
//
// Spoiling: for tests of the judge, a backend whose training steps a test makes
// wrong.
//
//   StubBackend backend = Spoiling(
//       Reference(), {.gradients = [](int64_t step, auto& g) {
//         if (step == 7) g[0].template mutable_elements<float>()[0] *= -1;
//       }});

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/forwarding_network.h"
#include "framework/backend/network_interfaces.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/optdiff/course.h"

namespace assay::optdiff {

/// A network of the paper in both types.
inline Course PaperCourse(const std::string& network, const draw::Draw& draw,
                          int64_t steps, bool sums = false) {
  return Got(MakeCourse(network, DType::kFloat32, draw, steps, sums));
}

struct Spoil {
  /// Changes the gradients of a step, counted from 1.
  std::function<void(int64_t step, std::vector<Tensor>& gradients)> gradients =
      {};
  std::function<void(int64_t step, std::vector<Tensor>& outputs)> outputs = {};
  /// Changes each gradient, also those of inner values.
  std::function<void(const std::string& target, Tensor& gradient)> each = {};
  /// True when later steps use the parameters of the first step.
  bool keeps_weights = false;
};

/// The tensors of values, which share their memory.
inline std::vector<Tensor> TensorsOf(std::span<const Value> values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) tensors.push_back(*value.tensor());
  return tensors;
}

class SpoilingNetwork : public ForwardingNetwork, private Differentiable {
 public:
  SpoilingNetwork(std::unique_ptr<Network> inner, Spoil spoil)
      : ForwardingNetwork(std::move(inner)), spoil_(std::move(spoil)) {}

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

 private:
  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    ASSAY_ASSIGN_OR_RETURN(auto gradients, inner().differentiable()->Backward(
                                               binding, cotangents, targets));
    SpoilEach(targets, gradients);
    return gradients;
  }
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override {
    targets_.assign(targets.begin(), targets.end());
    return inner().differentiable()->BindBackward(binding, cotangents, targets,
                                                  gradients);
  }
  Status RunBackward(GradientBinding& bound) override {
    ASSAY_RETURN_IF_ERROR(inner().differentiable()->RunBackward(bound));
    std::vector<Tensor> gradients = TensorsOf(bound.gradients());
    if (spoil_.gradients) spoil_.gradients(step_, gradients);
    SpoilEach(targets_, bound.gradients());
    return OkStatus();
  }
  void SpoilEach(std::span<const std::string> targets,
                 std::span<const Value> gradients) const {
    for (size_t i = 0; spoil_.each && i < targets.size(); ++i) {
      Tensor gradient = *gradients[i].tensor();
      spoil_.each(targets[i], gradient);
    }
  }

  const Spoil spoil_;
  std::vector<std::string> targets_;
  int64_t step_ = 0;
};

/// The inner backend must outlive it.
inline StubBackend Spoiling(Backend& inner, Spoil spoil) {
  return StubBackend([&inner, spoil = std::move(spoil)](
                         auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(auto network, inner.Load(std::move(model), options));
    return std::make_unique<SpoilingNetwork>(std::move(network), spoil);
  });
}

}  // namespace assay::optdiff
