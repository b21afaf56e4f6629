// SPDX-License-Identifier: Apache-2.0
//
// Rules that scale a step by the squares of the gradients before it: AdaGrad,
// AdaDelta, RmsProp and AcceleGrad. Below, g is the gradient at the step t, and
// r the rate.

#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"

namespace assay::train {

enum class EpsilonAt : uint8_t {
  kAfterRoot,  // sqrt(v) + epsilon
  kInRoot,     // sqrt(v + epsilon)
};
inline constexpr std::array<std::string_view, 2> kEpsilonWords = {"after_root",
                                                                  "in_root"};

/// The divisor of a step: a root that epsilon keeps from zero.
template <class T>
class Root {
 public:
  Root(double epsilon, EpsilonAt at)
      : epsilon_(static_cast<T>(epsilon)),
        is_in_root_(at == EpsilonAt::kInRoot) {}

  T operator()(T square) const {
    return is_in_root_ ? std::sqrt(square + epsilon_)
                       : std::sqrt(square) + epsilon_;
  }

 private:
  T epsilon_;
  bool is_in_root_;
};

/// The rate of each element over the root of all its squares.
///
///     h = h + g^2
///     x = x - r / (1 + (t - 1) rate_decay) g / (sqrt(h) + epsilon)
///
/// Sources: J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods",
/// 2011, figure 1 with the diagonal; the pages of PyTorch's Adagrad, Keras'
/// Adagrad and ONNX's Adagrad-1.
struct AdaGradSettings {
  double epsilon = 1e-10;
  EpsilonAt epsilon_at = EpsilonAt::kAfterRoot;
  double initial = 0;  // h before the first step
  double rate_decay = 0;

  void AddTo(Settings* settings);
};

class AdaGrad : public WithSettings<AdaGradSettings> {
 public:
  using WithSettings::WithSettings;

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"sum_of_squares", settings_.initial}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;
};

/// Steps in the units of the parameter, with no rate to choose.
///
///     s = rho s + (1 - rho) g^2
///     d = sqrt(u + epsilon) / sqrt(s + epsilon) g
///     u = rho u + (1 - rho) d^2
///     x = x - r d
///
/// Source: M. D. Zeiler, "ADADELTA: an adaptive learning rate method", 2012,
/// algorithm 1, where r is 1; r as in PyTorch and Keras.
struct AdaDeltaSettings {
  double rho = 0.95;
  double epsilon = 1e-6;

  void AddTo(Settings* settings);
};

class AdaDelta : public WithSettings<AdaDeltaSettings> {
 public:
  using WithSettings::WithSettings;

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"mean_square"}, {"mean_square_step"}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;
};

/// The rate of each element over the root of a running mean of its squares.
///
///     s = rho s + (1 - rho) g^2        where centered: a = rho a + (1 - rho) g
///     d = g / (sqrt(s - a^2) + epsilon)
///     outside    v = momentum v + d      x = x - r v
///     inside     v = momentum v + r d    x = x - v
///
/// Sources: T. Tieleman, G. Hinton, "Lecture 6.5 - rmsprop", 2012, without
/// epsilon; A. Graves, "Generating sequences with recurrent neural networks",
/// 2013, equations 38 to 41, centered; the pages of PyTorch's and Keras'
/// RMSprop.
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

class RmsProp : public WithSettings<RmsPropSettings> {
 public:
  using WithSettings::WithSettings;

 protected:
  std::vector<Slot> StateOfEach() const override {
    return {{"mean_square", settings_.initial}, {"velocity"}, {"mean"}};
  }
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;
};

/// An accelerated method that adapts its rate to the gradients.
///
///     a = 1 up to the third step t, t / 4 behind it
///     x = z / a + (1 - 1 / a) y, where the gradient g is taken
///     n = 2 diameter / sqrt(bound^2 + sum of a^2 |g|^2 of all steps)
///     z = z - a n g,  y = x - n g
///
/// The parameter is y between two steps. There is no projection: the set is all
/// of space. n is scaled by the rate, which is 1 in the source: K. Y. Levy, A.
/// Yurtsever, V. Cevher, "Online adaptive methods, universality and
/// acceleration", 2018, algorithm 2.
struct AcceleGradSettings {
  /// The elements over which |g| is taken: all parameters together, as in the
  /// source, or each parameter alone, as in Deep500.
  enum class NormOver : uint8_t { kAll, kParameter };
  static constexpr std::array<std::string_view, 2> kNormWords = {"all",
                                                                 "parameter"};

  double diameter = 1;
  double bound = 1;
  NormOver norm_over = NormOver::kAll;

  void AddTo(Settings* settings);
};

class AcceleGrad : public WithSettings<AcceleGradSettings, ThreeStepOptimizer> {
 public:
  using WithSettings::WithSettings;

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
  double squares_of_all_ = 0;  // of the step in hand
};

}  // namespace assay::train
