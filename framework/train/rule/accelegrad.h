// SPDX-License-Identifier: Apache-2.0
//
// AcceleGrad: an accelerated method that adapts its rate to the gradients.
//
//   AcceleGrad optimizer({.rate = 1}, {.diameter = 10, .bound = 1});
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(objective));
//
//     a = 1 up to the third step t, t / 4 behind it
//     x = z / a + (1 - 1 / a) y, where the gradient g is taken
//     n = 2 diameter / sqrt(bound^2 + sum of a^2 |g|^2 of all steps)
//     z = z - a n g,  y = x - n g
//
// The parameter is y between two steps. There is no projection: the set is all of
// space. n is scaled by the rate, which is 1 in the source: K. Y. Levy, A.
// Yurtsever, V. Cevher, "Online adaptive methods, universality and acceleration",
// 2018, algorithm 2.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/settings.h"

namespace assay::train {

struct AcceleGradSettings {
  /// What |g| is taken over: all parameters together, as the source has it, or
  /// each parameter, as Deep500 had it.
  enum class NormOver : uint8_t { kAll, kParameter };
  static constexpr std::array<std::string_view, 2> kNormWords = {"all",
                                                                 "parameter"};

  double diameter = 1;
  double bound = 1;
  NormOver norm_over = NormOver::kAll;

  void AddTo(Settings* settings);
};

class AcceleGrad : public ThreeStepOptimizer {
 public:
  AcceleGrad(Recipe recipe, const AcceleGradSettings& settings)
      : ThreeStepOptimizer(std::move(recipe)), settings_(settings) {}

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"z"}, {"sum_of_squares", 0, /*is_scalar=*/true}};
  }
  Status PrepareParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override;
  Status NewGradients(const Progress& at,
                      std::span<const Tensor> gradients) override;
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  AcceleGradSettings settings_;
  double squares_of_all_ = 0;  // of the step in hand
};

}  // namespace assay::train
