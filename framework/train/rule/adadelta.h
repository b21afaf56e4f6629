// SPDX-License-Identifier: Apache-2.0
//
// AdaDelta: steps in the units of the parameter, with no rate to choose.
//
//   AdaDelta optimizer({.rate = 1}, {.rho = 0.95, .epsilon = 1e-6});
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(objective));
//
//     s = rho s + (1 - rho) g^2
//     d = sqrt(u + epsilon) / sqrt(s + epsilon) g
//     u = rho u + (1 - rho) d^2
//     x = x - r d
//
// Source: M. D. Zeiler, "ADADELTA: an adaptive learning rate method", 2012,
// algorithm 1, where r is 1; r as in PyTorch and Keras.

#pragma once

#include <utility>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/settings.h"

namespace assay::train {

struct AdaDeltaSettings {
  double rho = 0.95;
  double epsilon = 1e-6;

  void AddTo(Settings* settings);
};

class AdaDelta : public UpdateRuleOptimizer {
 public:
  AdaDelta(Recipe recipe, const AdaDeltaSettings& settings)
      : UpdateRuleOptimizer(std::move(recipe)), settings_(settings) {}

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"mean_square"}, {"mean_square_step"}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  AdaDeltaSettings settings_;
};

}  // namespace assay::train
