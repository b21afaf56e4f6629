// SPDX-License-Identifier: Apache-2.0
//
// QuadRule: an optimizer in quad (number.h), written from its papers and from
// the documentation of frameworks, apart from the framework's own optimizers,
// which it judges; and its settings, read from texts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "framework/train/quad/number.h"

namespace assay::quad {

using GradientOf =
    std::function<std::vector<QuadTensor>(const std::vector<QuadTensor>& x)>;

/// The elements of a tensor of float32 or float64, as numbers of its type.
QuadTensor InQuad(const Tensor& tensor);
std::vector<QuadTensor> InQuad(std::span<const Tensor> tensors);
std::vector<QuadTensor> InQuad(std::span<const train::Parameter> parameters);

struct Spread {
  double l2 = 0, linf = 0;
  double norm = 0, greatest = 0;  // of those wanted: l2, and of their absolutes
  // Beside what roundings explain (number.h), element by element:
  double share = 0;      // the greatest error over its limit; right up to 1
  size_t nearest = 0;    // the element with it
  double off = 0;        // its error
  double limit = 0;      // its limit
  double explained = 0;  // l2 of the limits
  size_t unknown = 0;    // elements without a limit, which are not judged

  /// A limit of linf that has the same share.
  double limit_of_linf() const { return share > 0 ? linf / share : limit; }
  /// True where it would show a tensor that is 1 % off.
  bool is_decided() const {
    constexpr double kShows = 200;
    return unknown == 0 && (l2 == 0 || !(kShows * explained > norm));
  }
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
