// SPDX-License-Identifier: Apache-2.0
//
// Recipe: what surrounds an update rule: rate and schedule, decay of weights,
// limits of gradients, and groups of parameters that have some of it otherwise.
//
//   Recipe recipe{.rate = 0.1, .weight_decay = 1e-4};
//   recipe.schedule = CosineSchedule(1000);
//   recipe.clip.norm = 1;
//   recipe.groups.push_back({.names = {"fc2.bias"}, .weight_decay = 0});

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/schedule.h"

namespace assay::train {

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

/// What the decay of a weight x, of the factor d, does in a step of the rate r,
/// which is the base rate times the schedule's factor s.
enum class Decay : uint8_t {
  kCoupled,     // adds d x to the gradient, behind the clipping
  kByRate,      // takes r d x off x before the update: PyTorch's AdamW
  kBySchedule,  // takes s d x off x: I. Loshchilov, F. Hutter, "Decoupled weight
                // decay regularization", 2019, algorithm 2
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

/// Clips in place.
Status ClipGradients(const Clip& clip, std::span<Tensor> gradients);

/// Each parameter's group, the recipe's own decay filled in. Invalid argument
/// for a group's name that no parameter has, and for one in two groups.
Result<std::vector<Group>> GroupsOf(const Recipe& recipe,
                                    std::span<const std::string> parameters);

}  // namespace assay::train
