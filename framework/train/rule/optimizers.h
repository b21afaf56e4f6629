// SPDX-License-Identifier: Apache-2.0
//
// MakeOptimizer: the optimizers by name, with the conventions of a framework.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"

namespace assay::train {

struct Wanted {
  std::string_view name;
  std::string_view preset = "paper";
  /// "NAME=VALUE" with spaces between; they win over the preset's.
  std::string_view settings;
};

/// "OPTIMIZER[/PRESET][:SETTINGS]" taken apart: momentum where no optimizer is
/// named, and the preset paper where none is.
Wanted WantedOf(std::string_view text);

/// "BACKEND[:OPTIMIZER[/PRESET][:SETTINGS]]" in two. The settings of a backend
/// may have colons, so the last colon that the name of an optimizer follows is
/// the one: "acme+device=cuda:0:adam/keras" ends with adam's. Where none has
/// one, the backend ends at the first colon before its settings.
struct RunParts {
  std::string_view backend, optimizer;
};
RunParts SplitRun(std::string_view run);

struct Made {
  std::unique_ptr<Optimizer> optimizer;
  /// All numbers and conventions that it has, by name.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// `recipe` brings the schedule and the groups; the rest of it are settings:
/// rate, weight_decay, decay, clip_value, clip_norm. Invalid argument for a
/// name, a preset or a setting that there is not, and for a decay that the rule
/// does not have; it says which there are.
Result<Made> MakeOptimizer(const Wanted& wanted, Recipe recipe = {});

void AddTo(Recipe* recipe, Settings* settings);

/// A set of conventions of one optimizer, and where they come from.
struct Preset {
  std::string_view optimizer;
  std::string_view name;
  std::string_view settings;
  std::string_view source;
};

/// All, those of one optimizer together.
std::span<const Preset> Presets();

/// The names of the optimizers, in the order of Presets.
std::vector<std::string_view> OptimizerNames();

}  // namespace assay::train
