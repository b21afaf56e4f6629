// SPDX-License-Identifier: Apache-2.0
//
// Convention: the settings of an optimizer under which a step comes about.
//
//   const std::vector<Exchange> why = Explaining(steps, candidates);
//   why[0].name;   // "epsilon"
//
// Each step is made again in quad from where it began, with one setting after the other
// exchanged, then with two. Several steps tell apart what one of them does not.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/train/quad/quad.h"
#include "framework/train/quad/quad_rule.h"
#include "framework/train/quad/quad_setting.h"

namespace assay::bisect {

/// Of each parameter its state by name.
using NamedState =
    std::vector<std::vector<std::pair<std::string, quad::QuadTensor>>>;

/// A step to be explained: where it began, what it was given, and what came of it.
struct SeenStep {
  std::string optimizer;  // whose rule it is
  quad::SettingTexts settings;
  quad::QuadRule::StepInfo at;
  std::vector<quad::QuadTensor> start;  // of each parameter
  NamedState state;  // behind the step before; empty at the first
  std::vector<quad::QuadTensor> gradients;
  DType type = DType::kFloat32;
  std::vector<quad::QuadTensor> result;  // the parameters behind it
  NamedState left;  // and the state, what of it is to be explained
};

struct Exchange {
  std::string name, from, to;
};

/// True where the rule makes each of the steps, within its roundings.
bool Makes(std::span<const SeenStep> steps, const quad::SettingTexts& settings);

/// The fewest of these that have to be exchanged so that all steps come about, two at
/// most; empty where none do, or none has to be.
std::vector<Exchange> Explaining(std::span<const SeenStep> steps,
                                 std::span<const Exchange> candidates);

/// What an optimizer may have done in place of what it says: every word of a setting,
/// and of each number none, its double and its half.
std::vector<Exchange> UsualSlips(const std::string& optimizer,
                                 const quad::SettingTexts& settings);

}  // namespace assay::bisect
