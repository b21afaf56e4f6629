// SPDX-License-Identifier: Apache-2.0
//
// For tests of suites: a backend that gives y = x, in float32, and what a test
// wants to be wrong with it.
//
//   CopyBackend backend({.drifts = true});

#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/backend/network_interfaces.h"
#include "framework/testing/measure/measure_rows_fixture.h"

namespace assay::suite {

/// How the backend departs from y = x.
struct Fault {
  Status load, forward;
  bool no_network = false;
  bool no_exact = false;
  bool no_units = false;
  bool few_units = false;
  bool keeps = false;                         // gives what it gave first
  bool drifts = false;                        // a little more in each run
  Precision exact_from = Precision::kDouble;  // off by 1 below
  bool no_arbitrary = false;
  Precision least = Precision::kDouble;  // fails below
  bool slow = false;                     // an answer takes 1 ms or more
};

class CopyBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return {&y, 1}; }
  Value x, y;
};

/// Half of x, in two parts, so that it is told from the outputs.
class Halves : public ExactRun {
 public:
  Halves(const Fault& fault, std::span<const Value> inputs) : fault_(fault) {
    for (const float x : inputs[0].tensor()->elements<float>()) {
      half_.push_back(x / 2);
    }
  }
  Precision LeastPrecision() const override { return fault_.least; }
  Result<std::vector<ExactValue>> Evaluate(Precision precision) override {
    if (precision == Precision::kArbitrary && fault_.no_arbitrary) {
      return ResourceExhausted("too much");
    }
    if (precision < fault_.least) return Internal("not worth its time");
    const Tensor zeros = Doubles(std::vector<double>(half_.size(), 0));
    const Tensor off = Doubles(std::vector<double>(
        half_.size(), precision < fault_.exact_from ? 1 : 0));
    return std::vector<ExactValue>{{Doubles(half_), zeros, off}};
  }
  Result<std::vector<Tensor>> EvaluateUnits(UnitKind) override {
    if (fault_.no_units) return Internal("no units");
    if (fault_.few_units) return std::vector<Tensor>();
    return std::vector<Tensor>{Doubles({7, 8}), Doubles({9})};
  }

 private:
  const Fault fault_;
  std::vector<double> half_;
};

class Copying : public Network, public Exact, public Placement {
 public:
  explicit Copying(const Fault& fault) : fault_(fault) {}
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Exact* exact() override { return fault_.no_exact ? nullptr : this; }
  Placement* placement() override { return this; }
  std::vector<PlacedNode> Placed() const override {
    return {{"Identity", "copier", "call"}};
  }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    auto binding = std::make_unique<CopyBinding>();
    binding->x = inputs[0];
    if (!outputs.empty()) binding->y = outputs[0];
    return binding;
  }
  Status Forward(Binding& bound) override {
    auto& binding = static_cast<CopyBinding&>(bound);
    ASSAY_RETURN_IF_ERROR(fault_.forward);
    if (first_.empty() || !fault_.keeps) {
      const auto x = binding.x.tensor()->elements<float>();
      first_.assign(x.begin(), x.end());
    }
    if (!binding.y.present()) binding.y = Floats(first_);
    const auto y = binding.y.mutable_tensor()->mutable_elements<float>();
    std::ranges::copy(first_, y.begin());
    if (fault_.drifts) y[0] += 1e-6F * static_cast<float>(++runs_);
    return OkStatus();
  }

  Result<std::unique_ptr<ExactRun>> At(std::span<const Value> inputs,
                                       std::span<const std::string>) override {
    ASSAY_RETURN_IF_ERROR(fault_.forward);
    if (fault_.slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++recorded;
    return std::unique_ptr<ExactRun>(std::make_unique<Halves>(fault_, inputs));
  }

  static inline int recorded = 0;

 private:
  const Fault fault_;
  const std::vector<ValueInfo> inputs_ = {{"x", {}}};
  const std::vector<ValueInfo> outputs_ = {{"y", {}}};
  std::vector<float> first_;
  int runs_ = 0;
};

class CopyBackend : public Backend {
 public:
  explicit CopyBackend(Fault fault) : fault_(std::move(fault)) {}
  std::string_view name() const override { return "copy"; }
  Result<Probe> Inspect() override { return Probe(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions& options) override {
    ASSAY_RETURN_IF_ERROR(fault_.load);
    if (fault_.no_network) return std::unique_ptr<Network>();
    Fault fault = fault_;
    fault.no_exact = fault.no_exact || !options.exact;
    return std::make_unique<Copying>(fault);
  }

 private:
  const Fault fault_;
};

}  // namespace assay::suite
