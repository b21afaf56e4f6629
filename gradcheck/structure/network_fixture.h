// SPDX-License-Identifier: Apache-2.0
//
// For tests of what must hold between backward runs: a backend of any model
// whose outputs are all the square of each element of its first input, in
// float32, and whose gradient a test makes wrong.
//
//   SquareBackend backend({.keeps_first = true});

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/network_interfaces.h"
#include "framework/graph/model.h"

namespace assay::gradcheck {

struct SquareDefects {
  bool one_reader = false;   // of several only the last counts
  bool unread_ones = false;  // the gradient of an input that nobody reads
  bool other_shape = false;  // of the same
  bool declines_unread = false;
  bool declines_two = false;  // models of two nodes
  bool last_hot =
      false;  // the last element's cotangent is lost where it is alone
  bool by_place = false;  // the second example's is a tenth greater
  bool of_first = false;  // other inputs stay those of the first forward
  bool declines_bound = false;
  bool adds_one = false;          // to every gradient
  bool keeps_cotangents = false;  // of the time of binding
  bool keeps_inputs = false;      // the same
  bool adds = false;              // a bound run, to what memory holds
  bool leaves_last = false;       // a bound run leaves the last element
  bool beyond = false;            // a bound run writes behind the end
  bool as_function = false;       // no defect: runs the body of a function
};

class SquareBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return y; }
  std::vector<Value> inputs, y;
};

/// y = x * x * s, where s, if there is a second input of integers, is one
/// number for each row.
class SquareNetwork : public Network, public Differentiable, public Placement {
 public:
  SquareNetwork(SquareDefects defects, const Graph& graph) : defects_(defects) {
    for (const ValueId id : graph.inputs) inputs_.push_back(graph[id]);
    for (const ValueId id : graph.outputs) outputs_.push_back(graph[id]);
  }
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Differentiable* differentiable() override { return this; }
  Placement* placement() override { return this; }
  std::vector<PlacedNode> Placed() const override {
    return {{"square", "square", defects_.as_function ? "call" : ""}};
  }

  Result<std::unique_ptr<Binding>> Bind(std::span<const Value> inputs,
                                        std::span<const Value>) override {
    auto binding = std::make_unique<SquareBinding>();
    binding->inputs.assign(inputs.begin(), inputs.end());
    return binding;
  }

  Status Forward(Binding& bound) override {
    auto& binding = static_cast<SquareBinding&>(bound);
    const Tensor& x = *binding.inputs[0].tensor();
    const std::vector<float> scales = ScalesOf(binding.inputs);
    if (first_scales_.empty()) first_scales_ = scales;
    std::vector<float> y;
    for (const float number : x.elements<float>()) {
      y.push_back(number * number *
                  scales[y.size() * scales.size() / Count(x)]);
    }
    ASSAY_ASSIGN_OR_RETURN(const Tensor tensor,
                           Tensor::Of<float>(x.shape(), y));
    binding.y.assign(outputs_.size(), tensor);
    return OkStatus();
  }

  Result<std::vector<Value>> Backward(
      Binding& bound, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    const auto& binding = static_cast<SquareBinding&>(bound);
    std::vector<Value> gradients;
    for (const std::string& target : targets) {
      ASSAY_ASSIGN_OR_RETURN(Tensor gradient, target == inputs_[0].name
                                                  ? OfFirst(binding, cotangents)
                                                  : Unread());
      gradients.emplace_back(std::move(gradient));
    }
    return gradients;
  }

  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override {
    if (defects_.declines_bound) return Unsupported(Reason::kGradient, "bound");
    auto bound = std::make_unique<Bound>();
    bound->binding = static_cast<SquareBinding*>(&binding);
    bound->cotangents.assign(cotangents.begin(), cotangents.end());
    if (defects_.keeps_cotangents) {
      for (Value& value : bound->cotangents) {
        if (value.present()) {
          ASSAY_ASSIGN_OR_RETURN(value, value.tensor()->Clone());
        }
      }
    }
    bound->targets.assign(targets.begin(), targets.end());
    bound->results.assign(gradients.begin(), gradients.end());
    bound->kept.inputs = bound->binding->inputs;
    ASSAY_ASSIGN_OR_RETURN(bound->kept.inputs[0],
                           bound->kept.inputs[0].tensor()->Clone());
    return std::unique_ptr<GradientBinding>(std::move(bound));
  }

  Status RunBackward(GradientBinding& given) override {
    auto& bound = static_cast<Bound&>(given);
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<Value> found,
        Backward(defects_.keeps_inputs ? bound.kept : *bound.binding,
                 bound.cotangents, bound.targets));
    for (size_t i = 0; i < found.size(); ++i) {
      const auto from = found[i].tensor()->elements<float>();
      const auto to =
          bound.results[i].mutable_tensor()->mutable_elements<float>();
      for (size_t k = 0; k < from.size(); ++k) {
        if (defects_.leaves_last && k + 1 == from.size()) break;
        to[k] = (defects_.adds && ran_ ? to[k] : 0) + from[k];
      }
      if (defects_.beyond) *(to.data() + to.size()) = 1;
    }
    ran_ = true;
    return OkStatus();
  }

 private:
  class Bound : public GradientBinding {
   public:
    std::span<const Value> gradients() const override { return results; }
    SquareBinding* binding = nullptr;
    SquareBinding kept;
    std::vector<Value> cotangents, results;
    std::vector<std::string> targets;
  };

  static size_t Count(const Tensor& tensor) {
    return static_cast<size_t>(tensor.num_elements());
  }

  static std::vector<float> ScalesOf(const std::vector<Value>& inputs) {
    std::vector<float> scales;
    if (inputs.size() > 1 && inputs[1].tensor()->dtype() == DType::kInt64) {
      for (const int64_t s : inputs[1].tensor()->elements<int64_t>()) {
        scales.push_back(static_cast<float>(s));
      }
    }
    return scales.empty() ? std::vector<float>{1} : scales;
  }

  Result<Tensor> OfFirst(const SquareBinding& binding,
                         std::span<const Value> cotangents) {
    const Tensor& x = *binding.inputs[0].tensor();
    const std::vector<float> scales =
        defects_.of_first ? first_scales_ : ScalesOf(binding.inputs);
    const auto numbers = x.elements<float>();
    std::vector<float> sum(numbers.size());
    for (const Value& dy : cotangents) {
      if (!dy.present()) continue;
      if (defects_.one_reader) std::ranges::fill(sum, 0.0F);
      const auto weights = dy.tensor()->elements<float>();
      if (defects_.last_hot &&
          std::ranges::count(weights, 0.0F) + 1 == std::ssize(weights) &&
          weights.back() != 0) {
        continue;
      }
      for (size_t i = 0; i < sum.size(); ++i) {
        const float s = scales[i * scales.size() / sum.size()];
        sum[i] += 2 * numbers[i] * weights[i] * s;
        if (defects_.by_place && i * 2 >= sum.size()) sum[i] *= 1.1F;
      }
    }
    if (defects_.adds_one) {
      for (float& number : sum) number += 1;
    }
    return Tensor::Of<float>(x.shape(), sum);
  }

  Result<Tensor> Unread() const {
    const float number = defects_.unread_ones ? 1 : 0;
    if (defects_.other_shape) {
      return Tensor::Of<float>(Shape{1}, std::vector<float>(1, number));
    }
    return Tensor::Of<float>(Shape{2}, std::vector<float>(2, number));
  }

  const SquareDefects defects_;
  std::vector<ValueInfo> inputs_, outputs_;
  std::vector<float> first_scales_;
  bool ran_ = false;
};

class SquareBackend : public Backend {
 public:
  explicit SquareBackend(SquareDefects defects) : defects_(defects) {}
  std::string_view name() const override { return "square"; }
  Result<Probe> Inspect() override { return Probe(); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    const Graph& graph = model->graph();
    const bool two = graph.nodes.size() > 1;
    const bool unread = two && options.gradient_targets.size() > 1;
    if ((two && defects_.declines_two) ||
        (unread && defects_.declines_unread)) {
      return Unsupported(Reason::kGradient, "declined");
    }
    return std::make_unique<SquareNetwork>(defects_, graph);
  }

 private:
  const SquareDefects defects_;
};

}  // namespace assay::gradcheck
