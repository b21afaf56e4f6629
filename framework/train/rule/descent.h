// SPDX-License-Identifier: Apache-2.0
//
// Descent: gradient descent, with momentum or Nesterov's where it has some.
//
// With the gradient g, the momentum m and the rate r:
//
//     outside    v = m v + (1 - dampening) g     x = x - r v
//     inside     v = m v - r (1 - dampening) g   x = x + v
//
// They differ once the rate changes. Sources: B. T. Polyak, "Some methods of
// speeding up the convergence of iteration methods", 1964; I. Sutskever et al.,
// "On the importance of initialization and momentum in deep learning", 2013,
// equations 1 to 4; the pages of PyTorch's SGD, Keras' SGD and ONNX's
// Momentum-1.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"

namespace assay::train {

struct DescentSettings {
  enum class RateAt : uint8_t { kOutside, kInside };
  enum class Nesterov : uint8_t {
    kNone,
    /// Takes the gradient at x + m v, and steps from x (Sutskever's equations).
    kAhead,
    /// Takes the gradient at x, which stands for that place: the update has the
    /// next step's m v added, as in PyTorch, Keras and ONNX.
    kFolded,
  };
  enum class First : uint8_t {
    kAsOthers,
    kUndampened,  // the first velocity is the gradient
  };
  static constexpr std::array<std::string_view, 2> kRateWords = {"outside",
                                                                 "inside"};
  static constexpr std::array<std::string_view, 3> kNesterovWords = {
      "none", "ahead", "folded"};
  static constexpr std::array<std::string_view, 2> kFirstWords = {"as_others",
                                                                  "undampened"};

  double momentum = 0;
  double dampening = 0;
  RateAt rate_at = RateAt::kInside;
  Nesterov nesterov = Nesterov::kNone;
  First first = First::kAsOthers;

  void AddTo(Settings* settings);
};

class Descent : public WithSettings<DescentSettings, ThreeStepOptimizer> {
 public:
  using WithSettings::WithSettings;

 protected:
  std::vector<Slot> StateOfEach() const override;
  Status PrepareParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override;
  Status RestoreParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override;
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  Status GoAhead(double times, const Progress& at, Slots& slots,
                 Tensor* parameter) const;
};

}  // namespace assay::train
