// SPDX-License-Identifier: Apache-2.0
//
// AdaGrad: the rate of each element over the root of all its squares.
//
//   AdaGrad optimizer({.rate = 0.01}, {.epsilon = 1e-10});
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(objective));
//
//     h = h + g^2
//     x = x - r / (1 + (t - 1) rate_decay) g / (sqrt(h) + epsilon)
//
// Sources: J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods", 2011,
// figure 1 with the diagonal; the pages of PyTorch's Adagrad, Keras' Adagrad and
// ONNX's Adagrad-1.

#pragma once

#include <utility>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/settings.h"
#include "framework/train/rule/root.h"

namespace assay::train {

struct AdaGradSettings {
  double epsilon = 1e-10;
  EpsilonAt epsilon_at = EpsilonAt::kAfterRoot;
  double initial = 0;  // h before the first step
  double rate_decay = 0;

  void AddTo(Settings* settings);
};

class AdaGrad : public UpdateRuleOptimizer {
 public:
  AdaGrad(Recipe recipe, const AdaGradSettings& settings)
      : UpdateRuleOptimizer(std::move(recipe)), settings_(settings) {}

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"sum_of_squares", settings_.initial}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  AdaGradSettings settings_;
};

}  // namespace assay::train
