// SPDX-License-Identifier: Apache-2.0
//
// RmsProp: the rate of each element over the root of a running mean of its squares.
//
//   RmsProp optimizer({.rate = 1e-3}, {.rho = 0.9});
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(objective));
//
//     s = rho s + (1 - rho) g^2        where centered: a = rho a + (1 - rho) g
//     d = g / (sqrt(s - a^2) + epsilon)
//     outside    v = momentum v + d      x = x - r v
//     inside     v = momentum v + r d    x = x - v
//
// Sources: T. Tieleman, G. Hinton, "Lecture 6.5 - rmsprop", 2012, without epsilon; A.
// Graves, "Generating sequences with recurrent neural networks", 2013, equations 38
// to 41, centered; the pages of PyTorch's and Keras' RMSprop.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/settings.h"
#include "framework/train/rule/root.h"

namespace assay::train {

struct RmsPropSettings {
  enum class RateAt : uint8_t { kOutside, kInside };
  enum class Centered : uint8_t { kNo, kYes };
  static constexpr std::array<std::string_view, 2> kRateWords = {"outside",
                                                                 "inside"};
  static constexpr std::array<std::string_view, 2> kCenteredWords = {"no",
                                                                     "yes"};

  double rho = 0.9;
  double initial = 0;  // s before the first step
  double epsilon = 1e-8;
  EpsilonAt epsilon_at = EpsilonAt::kAfterRoot;
  double momentum = 0;
  RateAt rate_at = RateAt::kOutside;
  Centered centered = Centered::kNo;

  void AddTo(Settings* settings);
};

class RmsProp : public UpdateRuleOptimizer {
 public:
  RmsProp(Recipe recipe, const RmsPropSettings& settings)
      : UpdateRuleOptimizer(std::move(recipe)), settings_(settings) {}

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"mean_square", settings_.initial}, {"velocity"}, {"mean"}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  RmsPropSettings settings_;
};

}  // namespace assay::train
