// SPDX-License-Identifier: Apache-2.0
//
// Adam: moments of the gradient and of its square, AMSGrad and AdamW among
// them; and Lamb, which scales Adam's step for each parameter by its norm. With
// the gradient g at the step t and the rate r:
//
//     m = beta1 m + (1 - beta1) g      m' = m / (1 - beta1^t)
//     v = beta2 v + (1 - beta2) g^2    v' = v / (1 - beta2^t)
//     x = x - r m' / (sqrt(v') + epsilon)
//
// Sources: D. P. Kingma, J. Ba, "Adam", 2015, algorithm 1 and the end of
// section 2; S. J. Reddi, S. Kale, S. Kumar, "On the convergence of Adam and
// beyond", 2018, algorithm 2; the pages of PyTorch's Adam, Keras' Adam, Optax'
// amsgrad and ONNX's Adam-1.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/rule/adaptive.h"

namespace assay::train {

struct AdamSettings {
  enum class Correction : uint8_t {
    kMoments,  // m' and v', as above
    kRate,     // r sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon)
    kNone,     // m and v
  };
  enum class Maximum : uint8_t {
    kNone,
    kBefore,  // of v, then corrected: AMSGrad as in PyTorch and Keras
    kAfter,   // of v': as in Optax
  };
  /// t of the first step: 1, or 0 as in ONNX. Where t is 0 nothing is
  /// corrected.
  enum class FirstT : uint8_t { kZero, kOne };
  static constexpr std::array<std::string_view, 2> kFirstWords = {"0", "1"};
  static constexpr std::array<std::string_view, 3> kCorrectionWords = {
      "moments", "rate", "none"};
  static constexpr std::array<std::string_view, 3> kMaximumWords = {
      "none", "before", "after"};

  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  EpsilonAt epsilon_at = EpsilonAt::kAfterRoot;
  Correction correction = Correction::kMoments;
  Maximum maximum = Maximum::kNone;
  FirstT first_t = FirstT::kOne;

  void AddTo(Settings* settings);
};

class Adam : public WithSettings<AdamSettings> {
 public:
  using WithSettings::WithSettings;

 protected:
  std::vector<Slot> StateOfEach() const override;
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;
};

/// The factors that are the same for all elements of a step.
struct AdamFactors {
  double rate = 0;
  double first = 1;   // m' = m / first
  double second = 1;  // v' = v / second
};
AdamFactors FactorsOf(const AdamSettings& settings, const Progress& at);

/// 1 - beta^t, with its digits where beta is near 1; 1 where t is 0.
double BiasOf(double beta, int64_t t);

/// Adam's step, scaled for each parameter by the norm of the parameter.
///
///     u = m' / (sqrt(v') + epsilon) + decay x
///     x = x - r phi(|x|) / |u| u         phi(z) = min(max(z, least), most)
///
/// Where |x| or |u| is 0, the factor is 1. Source: Y. You et al., "Large batch
/// optimization for deep learning: training BERT in 76 minutes", 2020,
/// algorithm 2 and appendix H.
struct LambSettings {
  static constexpr bool kDecaysItself = true;

  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double least = 0;
  double most = std::numeric_limits<double>::max();

  void AddTo(Settings* settings);
};

class Lamb : public WithSettings<LambSettings> {
 public:
  using WithSettings::WithSettings;

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"first_moment"}, {"second_moment"}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;
};

}  // namespace assay::train
