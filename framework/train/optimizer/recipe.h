// SPDX-License-Identifier: Apache-2.0
//
// Recipe: what surrounds an update rule: rate and schedule, decay of weights,
// limits of gradients, and groups of parameters that have some of it otherwise.
// Settings: the numbers and words of an optimizer by name, so that a preset is
// data and a user can set each of them.
//
//   Recipe recipe{.rate = 0.1, .weight_decay = 1e-4};
//   recipe.schedule = AfterWarmup(500, CosineSchedule(10000));
//   recipe.groups.push_back({.names = {"fc2.bias"}, .weight_decay = 0});

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

/// The factor of the rate at a step, which counts from 1: a pure function, so
/// that a run which is resumed has the schedule of one that was not.
using Schedule = std::function<double(int64_t step)>;

Schedule ConstantSchedule();

/// `factor` to the power of how many of the steps were done before: it is taken
/// at the first step behind each.
Schedule StepSchedule(double factor, std::vector<int64_t> after);

/// factor^(step - 1).
Schedule ExponentialSchedule(double factor);

/// From 1 at the first step to `last` behind `steps` steps, along half a cosine
/// (I. Loshchilov, F. Hutter, "SGDR", 2017, equation 5, without restarts).
Schedule CosineSchedule(int64_t steps, double last = 0);

/// (1 - (step - 1) / steps)^power, 0 behind them.
Schedule PolynomialSchedule(int64_t steps, double power);

/// step / steps for the first of them, then `schedule` from its first step on
/// (P. Goyal et al., "Accurate, large minibatch SGD", 2017, section 2.2).
Schedule AfterWarmup(int64_t steps, Schedule schedule);

/// Limits of gradients. Values first, then the norm.
struct Clip {
  /// Each element is moved into [-value, value].
  double value = std::numeric_limits<double>::infinity();
  /// Where the norm of all gradients together is greater, all are scaled by
  /// norm / that norm (R. Pascanu, T. Mikolov, Y. Bengio, "On the difficulty of
  /// training recurrent neural networks", 2013, algorithm 1).
  double norm = std::numeric_limits<double>::infinity();
};

/// Parameters for which something else is said.
struct Group {
  std::vector<std::string> names;
  double rate_scale = 1;
  std::optional<double> weight_decay;
};

/// The effect that the decay of a weight x, of the factor d, has in a step of
/// the rate r. The rate is the base rate times the schedule's factor s.
enum class Decay : uint8_t {
  kCoupled,     // adds d x to the gradient, behind the clipping
  kByRate,      // takes r d x off x before the update: PyTorch's AdamW
  kBySchedule,  // takes s d x off x: I. Loshchilov, F. Hutter, "Decoupled
                // weight decay regularization", 2019, algorithm 2
  kAfter,   // takes d x off x behind the update: ONNX's norm_coefficient_post
  kInRule,  // is the rule's own: LAMB's
};
inline constexpr std::array<std::string_view, 5> kDecayWords = {
    "coupled", "by_rate", "by_schedule", "after", "in_rule"};

struct Recipe {
  double rate = 0;
  double weight_decay = 0;
  Decay decay = Decay::kCoupled;
  Schedule schedule = ConstantSchedule();
  Clip clip;
  std::vector<Group> groups;
};

// Both are unsupported for types other than float32 and float64.

/// The sum of the squares of all elements, in double, in their order.
Result<double> SquaredNorm(std::span<const Tensor> gradients);

Status ClipGradients(const Clip& clip, std::span<Tensor> gradients);

/// Each parameter's group, the recipe's own decay filled in. Invalid argument
/// for a group's name that no parameter has, and for one in two groups.
Result<std::vector<Group>> GroupsOf(const Recipe& recipe,
                                    std::span<const std::string> parameters);

struct Range {
  double least = 0;
  double below = std::numeric_limits<double>::infinity();
};

/// It writes to what was added, which must live as long as it does.
class Settings {
 public:
  void Add(std::string_view name, double* value, Range range = {});

  /// An enum whose values count from 0, with a word for each.
  template <class Enum>
  void Add(std::string_view name, Enum* value,
           std::span<const std::string_view> words) {
    AddWords(
        name, words, [value] { return static_cast<size_t>(*value); },
        [value](size_t word) { *value = static_cast<Enum>(word); });
  }

  /// "NAME=VALUE". Invalid argument for a name that there is not, for what is
  /// no number or outside its range, and for another word; it says which there
  /// are.
  Status Set(std::string_view assignment);
  /// Several, with spaces between them, each name once.
  Status SetAll(std::string_view assignments);

  /// The names and what they are now, in the order of their addition. A number
  /// reads back as itself.
  std::vector<std::pair<std::string, std::string>> Values() const;

 private:
  struct Setting {
    std::string name;
    std::function<std::string()> read;
    std::function<Status(std::string_view)> write;
  };

  void AddWords(std::string_view name, std::span<const std::string_view> words,
                std::function<size_t()> read,
                std::function<void(size_t)> write);

  std::vector<Setting> settings_;
};

}  // namespace assay::train
