// SPDX-License-Identifier: Apache-2.0
//
// Conventions and slips that explain what was seen of a run: the settings of an
// optimizer that give its step, and the mistake by which a running statistic is
// fed back.
//
// Each step is taken again in quad from where it began, with one setting
// exchanged at a time, then with two. Several steps tell settings apart that
// one step does not.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/graph/model.h"
#include "framework/train/quad/quad.h"

namespace assay::bisect {

using NamedState =
    std::vector<std::vector<std::pair<std::string, quad::QuadTensor>>>;

/// A step to be explained: its beginning, its gradients and its result.
struct SeenStep {
  std::string optimizer;  // whose rule it is
  quad::SettingTexts settings;
  quad::QuadRule::StepInfo at;
  std::vector<quad::QuadTensor> start;  // of each parameter
  NamedState state;                     // before the step; empty at the first
  std::vector<quad::QuadTensor> gradients;
  std::vector<quad::QuadTensor> result;  // the parameters after it
  NamedState left;  // the state after it, as far as it is to be explained
};

struct Exchange {
  std::string name, from, to;
};

/// True when the rule with these settings gives each of the steps, within its
/// roundings.
bool Makes(std::span<const SeenStep> steps, const quad::SettingTexts& settings);

/// The fewest candidates, one or two, whose exchange explains all steps; empty
/// where the settings explain them as they are, or no exchange does.
std::vector<Exchange> Explaining(std::span<const SeenStep> steps,
                                 std::span<const Exchange> candidates);

/// The exchanges that often explain a wrong update: for a setting of words
/// every other word; for a number 0, 1, its double and its half.
std::vector<Exchange> UsualSlips(const std::string& optimizer,
                                 const quad::SettingTexts& settings);

/// The node that reads a statistic, named by the first value that it computes.
struct Feeder {
  std::string op_type = "?", value;
  double momentum = 0.9;
  bool is_variance = false;
};

/// `value` is empty where no node reads the statistic.
Feeder FeederOf(const Graph& graph, std::string_view statistic);

/// A statistic before a step, after it, and as it should be after it.
struct FedNumbers {
  std::span<const double> before, got, wanted;
};

/// Says "is not fed back", "has the momentum for one minus it", "is the
/// variance of a sample of 64, wanted that of a population", or "is fed back
/// otherwise" where none of these explains it.
std::string SlipOf(const FedNumbers& fed, const Feeder& feeder);

}  // namespace assay::bisect
