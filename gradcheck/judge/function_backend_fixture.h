// SPDX-License-Identifier: Apache-2.0
//
// For tests of the judge: a backend of y = f(x) in float64, element by element,
// and a gradient that a test may make wrong.
//
//   FunctionBackend backend({.f = [](double x) { return x * x; },
//                            .slope = [](double x) { return 2 * x; },
//                            .off = {{3, 1e-7}}});

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/network_interfaces.h"

namespace assay::gradcheck {

struct FunctionOfOne {
  std::function<double(double)> f;
  std::function<double(double)> slope;
  /// Elements whose gradient is this share too great.
  std::map<size_t, double> off = {};
};

class FunctionBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return {&y, 1}; }
  Value x, y;
};

class FunctionNetwork : public Network, public Differentiable {
 public:
  explicit FunctionNetwork(FunctionOfOne function)
      : function_(std::move(function)) {}
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Differentiable* differentiable() override { return this; }

  Result<std::unique_ptr<Binding>> Bind(std::span<const Value> inputs,
                                        std::span<const Value>) override {
    auto binding = std::make_unique<FunctionBinding>();
    binding->x = inputs[0];
    return binding;
  }
  Status Forward(Binding& bound) override {
    auto& binding = static_cast<FunctionBinding&>(bound);
    const Tensor& x = *binding.x.tensor();
    std::vector<double> y;
    for (const double number : x.elements<double>()) {
      y.push_back(function_.f(number));
    }
    ASSAY_ASSIGN_OR_RETURN(binding.y, Tensor::Of<double>(x.shape(), y));
    return OkStatus();
  }
  Result<std::vector<Value>> Backward(Binding& bound,
                                      std::span<const Value> cotangents,
                                      std::span<const std::string>) override {
    const Tensor& x = *static_cast<FunctionBinding&>(bound).x.tensor();
    const auto dy = cotangents[0].tensor()->elements<double>();
    std::vector<double> dx;
    for (const double number : x.elements<double>()) {
      dx.push_back(function_.slope(number) * dy[dx.size()]);
    }
    for (const auto& [i, share] : function_.off) dx[i] *= 1 + share;
    ASSAY_ASSIGN_OR_RETURN(Tensor gradient, Tensor::Of<double>(x.shape(), dx));
    return std::vector<Value>{std::move(gradient)};
  }

 private:
  const FunctionOfOne function_;
  const std::vector<ValueInfo> inputs_ = {{"x", {}}};
  const std::vector<ValueInfo> outputs_ = {{"y", {}}};
};

class FunctionBackend : public Backend {
 public:
  explicit FunctionBackend(FunctionOfOne function)
      : function_(std::move(function)) {}
  std::string_view name() const override { return "function"; }
  Result<Probe> Inspect() override { return Probe(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions&) override {
    return std::make_unique<FunctionNetwork>(function_);
  }

 private:
  const FunctionOfOne function_;
};

}  // namespace assay::gradcheck
