// SPDX-License-Identifier: Apache-2.0
//
// Lamb: Adam's step, scaled for each parameter by the norm of the parameter.
//
//   Lamb optimizer({.rate = 1e-3, .weight_decay = 0.01,
//                   .decay = Decay::kInRule}, {});
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(objective));
//
//     u = m' / (sqrt(v') + epsilon) + decay x
//     x = x - r phi(|x|) / |u| u         phi(z) = min(max(z, least), most)
//
// Where |x| or |u| is 0, the factor is 1. Source: Y. You et al., "Large batch
// optimization for deep learning: training BERT in 76 minutes", 2020, algorithm 2
// and appendix H.

#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/settings.h"

namespace assay::train {

struct LambSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double least = 0;
  double most = std::numeric_limits<double>::max();

  void AddTo(Settings* settings);
};

class Lamb : public UpdateRuleOptimizer {
 public:
  Lamb(Recipe recipe, const LambSettings& settings)
      : UpdateRuleOptimizer(std::move(recipe)), settings_(settings) {}

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"first_moment"}, {"second_moment"}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  LambSettings settings_;
};

}  // namespace assay::train
