// SPDX-License-Identifier: Apache-2.0
//
// QuadRule: an optimizer in quad precision, written from its papers and from
// the documentation of frameworks, apart from the framework's own optimizers,
// which it judges.
//
//   std::vector<QuadTensor> x = {{1, 2}};
//   for (int64_t step = 1; step <= 10; ++step) {
//     rule->Prepare({.step = step}, &x);
//     rule->Update({.step = step}, x, &x);  // the gradients of |x|^2 / 2
//   }
//   const auto first = static_cast<double>(x[0][0]);

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/quad/quad.h"
#include "framework/train/quad/quad_setting.h"

namespace assay::quad {

/// An optimizer with its state. It owns the slots, not the parameters. For one
/// thread at a time.
class QuadRule {
 public:
  /// The step that is made. The rate of a parameter is
  /// rate * schedule * rate_scale, in double from the left.
  struct StepInfo {
    int64_t step = 1;
    double schedule = 1;
    /// For each parameter; empty: 1 and the setting.
    std::vector<double> rate_scale = {}, weight_decay = {};
  };

  virtual ~QuadRule() = default;
  QuadRule(const QuadRule&) = delete;
  QuadRule& operator=(const QuadRule&) = delete;

  /// Moves the parameters to where the gradients are taken.
  void Prepare(const StepInfo& at, std::vector<QuadTensor>* x);

  /// One step from the gradients taken there, each of its parameter's size:
  /// clip by value, clip by norm, decay, the formula, decay `after`. Weights
  /// decay where the step begins: where Prepare found them, not where it put
  /// them, if the rule goes back; a coupled decay is part of the gradient.
  /// Sources of the clips: Pascanu, Mikolov and Bengio, "On the difficulty of
  /// training recurrent neural networks" (2013), algorithm 1, and torch's
  /// clip_grad_value_; of the decays: Loshchilov and Hutter, "Decoupled weight
  /// decay regularization" (2019), algorithms 1 and 2 (coupled and
  /// by_schedule), and torch's AdamW (by_rate).
  void Update(const StepInfo& at, std::vector<QuadTensor> gradients,
              std::vector<QuadTensor>* x);

  /// State of one parameter, to be read and set: of its size, and empty before
  /// the first step, which fills what is empty. A scalar is a tensor of one
  /// element. Null where there is none of this name.
  QuadTensor* Slot(size_t parameter, std::string_view name);

 protected:
  /// One parameter at one step.
  struct ParameterStep {
    size_t parameter;
    int64_t step;
    Quad rate;
    Quad decay_in_rule;  // 0 where the weights decay elsewhere
  };

  QuadRule(const Settings& settings, const std::vector<std::string>& slots,
           size_t n_parameters);

  /// A slot, filled with `element` where it is empty.
  QuadTensor& State(size_t parameter, std::string_view name, size_t size,
                    double element = 0);

  /// Moves x to where the gradient is taken, and back to where the step begins.
  virtual void Lookahead(const ParameterStep&, QuadTensor* /*x*/) {}
  virtual void GoBack(size_t /*parameter*/, QuadTensor* /*x*/) {}
  /// Sees all gradients before the first formula is computed.
  virtual void Observe(const std::vector<QuadTensor>& /*gradients*/) {}
  /// The formula.
  virtual void Step(const ParameterStep& at, const QuadTensor& g,
                    QuadTensor* x) = 0;

 private:
  enum class Decay : uint8_t {
    kCoupled,
    kByRate,
    kBySchedule,
    kAfter,
    kInRule
  };

  static Decay DecayOf(const Settings& settings);
  double WeightDecay(const StepInfo& at, size_t parameter) const;
  ParameterStep ParameterStepOf(const StepInfo& at, size_t parameter) const;
  void ClipByValue(std::vector<QuadTensor>* gradients) const;
  void ClipByNorm(std::vector<QuadTensor>* gradients) const;
  /// The part of x by which x shrinks before the formula.
  Quad ShrinkageBefore(const StepInfo& at, size_t parameter) const;

  const double rate_, weight_decay_, clip_value_, clip_norm_;
  const Decay decay_;
  /// By parameter.
  std::vector<std::map<std::string, QuadTensor, std::less<>>> slots_;
};

}  // namespace assay::quad
