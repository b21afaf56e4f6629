// SPDX-License-Identifier: Apache-2.0
//
// Quad: numbers of 113 bits, in which formulas of optimizers are computed to
// judge others; with the two functions that they need beside + - * /. The
// compiler has the type (IEEE 754 binary128); no library of it is used.
//
// QuadRule: an optimizer in them, written from its papers and from the
// documentation of frameworks, apart from the framework's own optimizers, which
// it judges; and its settings, read from texts.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::quad {

__extension__ typedef __float128 Quad;

using QuadTensor = std::vector<Quad>;

using GradientOf =
    std::function<std::vector<QuadTensor>(const std::vector<QuadTensor>& x)>;

/// The square root, off by less than a unit in the last place; NaN below 0.
/// Newton's iteration r = (r + a / r) / 2 from the root in double, which
/// doubles the right digits each time: 53, 106, 113. Powers of 4 bring `a` into
/// the range of double, exactly.
inline Quad Root(Quad a) {
  constexpr double kFar = 0x1p1000;
  const Quad infinity = std::numeric_limits<double>::infinity();
  if (a == 0 || a == infinity) return a;
  if (!(a > 0)) return std::numeric_limits<double>::quiet_NaN();
  Quad unscaled = 1;
  for (; a > kFar; a /= kFar) unscaled *= 0x1p500;
  for (; a < 1 / kFar; a *= kFar) unscaled /= 0x1p500;
  Quad r = std::sqrt(static_cast<double>(a));
  for (int i = 0; i < 3; ++i) r = (r + a / r) / 2;
  return r * unscaled;
}

/// base^exponent by repeated squaring, for an exponent of 0 or more.
inline Quad Power(Quad base, int64_t exponent) {
  Quad power = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) power *= base;
  }
  return power;
}

inline Quad SumOfSquares(const QuadTensor& tensor) {
  Quad sum = 0;
  for (const Quad element : tensor) sum += element * element;
  return sum;
}

/// The elements of a tensor of float32 or float64.
QuadTensor InQuad(const Tensor& tensor);
std::vector<QuadTensor> InQuad(std::span<const Tensor> tensors);
std::vector<QuadTensor> InQuad(std::span<const train::Parameter> parameters);

struct Spread {
  double l2 = 0, linf = 0;
  double norm = 0, greatest = 0;  // of those wanted: l2, and of their absolutes
};

/// Compares a tensor of float32 or float64.
Spread SpreadOf(const Tensor& got, const QuadTensor& want);

/// Numbers and words of an optimizer by name, as text.
using SettingTexts = std::vector<std::pair<std::string, std::string>>;

struct Setting {
  std::string_view name;
  /// The text of a setting that is not given; empty: it has to be given.
  std::string_view otherwise;
  /// The words that it may be; none: it is a number.
  std::vector<std::string_view> words = {};
};

/// The values of all settings of an optimizer. May be read by many threads.
class Settings {
 public:
  /// A number is a decimal text of a double, or "inf". Invalid argument for a
  /// name that is not known or comes twice, for a text that is no number or
  /// none of the words, and where a setting is missing.
  static Result<Settings> Read(const std::vector<Setting>& known,
                               const SettingTexts& texts);

  /// Both need a setting that is known, of that kind.
  double Number(std::string_view name) const;
  bool Is(std::string_view name, std::string_view word) const;

 private:
  Settings() = default;
  Status Add(const Setting& setting, const std::string& text);

  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> words_;
};

/// An optimizer with its state. It owns the slots, not the parameters. For one
/// thread at a time.
class QuadRule {
 public:
  /// The step that is made. Its rate is rate * schedule, in double.
  struct StepInfo {
    int64_t step = 1;
    double schedule = 1;
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
  struct ParameterStep {
    size_t parameter;
    int64_t step;
    Quad rate;
    Quad decay_in_rule;  // 0 where the weights decay elsewhere
  };

  QuadRule(const Settings& settings, const std::vector<std::string>& slots,
           size_t n_parameters);

  const Settings& settings() const { return settings_; }
  double Number(std::string_view name) const { return settings_.Number(name); }
  bool Is(std::string_view name, std::string_view word) const {
    return settings_.Is(name, word);
  }

  /// A slot, filled with `element` where it is empty.
  QuadTensor& State(size_t parameter, std::string_view name, size_t size,
                    double element = 0);

  /// Moves x to where the gradient is taken, and back to where the step begins.
  virtual void Lookahead(const ParameterStep&, QuadTensor* /*x*/) {}
  virtual void GoBack(size_t /*parameter*/, QuadTensor* /*x*/) {}
  /// Sees all gradients before the first formula is computed.
  virtual void Observe(const std::vector<QuadTensor>& /*gradients*/) {}
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
  ParameterStep ParameterStepOf(const StepInfo& at, size_t parameter) const;
  void ClipByValue(std::vector<QuadTensor>* gradients) const;
  void ClipByNorm(std::vector<QuadTensor>* gradients) const;
  /// The part of x by which x shrinks before the formula.
  Quad ShrinkageBefore(const StepInfo& at) const;

  const Settings settings_;
  const double rate_ = Number("rate"), weight_decay_ = Number("weight_decay");
  const double clip_value_ = Number("clip_value");
  const double clip_norm_ = Number("clip_norm");
  const Decay decay_ = DecayOf(settings_);
  std::vector<std::map<std::string, QuadTensor, std::less<>>> slots_;
};

/// An optimizer: its settings, and how its rule is made. Each formula stands in
/// quad_formulas.cc as its source writes it.
struct Formula {
  std::string_view optimizer;
  std::vector<Setting> settings;
  Result<std::unique_ptr<QuadRule>> (*make)(const Settings& settings,
                                            size_t n_parameters);
};

const std::vector<Formula>& Formulas();

/// Invalid argument for an optimizer that there is not, and as Settings::Read
/// says. A setting that may be left out is then as if it were not in the
/// formula, a word the first that the README names.
Result<std::unique_ptr<QuadRule>> MakeQuadRule(std::string_view optimizer,
                                               const SettingTexts& settings,
                                               size_t n_parameters);

}  // namespace assay::quad
