// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/convention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/train/optdiff/beside_judge.h"

namespace assay::bisect {
namespace {

using quad::QuadTensor;
using quad::SettingTexts;

SettingTexts With(SettingTexts settings, const Exchange& exchange) {
  for (auto& [name, text] : settings) {
    if (name == exchange.name) text = exchange.to;
  }
  return settings;
}

/// Each element within the limit of its formula, where it has one.
bool IsWithin(const QuadTensor& got, const QuadTensor& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    const double limit = quad::LimitOf(want[i]);
    if (!std::isfinite(limit)) continue;
    if (!(quad::Size(got[i].value - want[i].value) <= limit)) return false;
  }
  return true;
}

bool MakesOne(const SeenStep& step, const SettingTexts& settings) {
  auto rule = quad::MakeQuadRule(step.optimizer, settings, step.start.size());
  if (!rule.ok()) return false;
  for (size_t p = 0; p < step.state.size(); ++p) {
    for (const auto& [name, tensor] : step.state[p]) {
      QuadTensor* const slot = (*rule)->Slot(p, name);
      if (slot != nullptr) *slot = tensor;
    }
  }
  std::vector<QuadTensor> x = step.start;
  (*rule)->Prepare(step.at, &x);
  (*rule)->Update(step.at, step.gradients, &x);
  for (size_t p = 0; p < x.size(); ++p) {
    if (!IsWithin(step.result[p], x[p])) return false;
  }
  for (size_t p = 0; p < step.left.size(); ++p) {
    for (const auto& [name, tensor] : step.left[p]) {
      const QuadTensor* const slot = (*rule)->Slot(p, name);
      if (slot != nullptr && !IsWithin(tensor, *slot)) return false;
    }
  }
  return true;
}

/// Computes momentum * before + rest * batch.
std::vector<double> Mixed(std::span<const double> before,
                          std::span<const double> batch, double momentum,
                          double rest) {
  std::vector<double> mixed;
  for (size_t i = 0; i < before.size(); ++i) {
    mixed.push_back(momentum * before[i] + rest * batch[i]);
  }
  return mixed;
}

/// The factor by which the statistic of the batch was multiplied: least squares
/// over all elements.
double FactorOf(const FedNumbers& fed, std::span<const double> batch,
                double momentum) {
  double products = 0;
  double squares = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const double of_batch = (1 - momentum) * batch[i];
    products += (fed.got[i] - momentum * fed.before[i]) * of_batch;
    squares += of_batch * of_batch;
  }
  return products / squares;
}

}  // namespace

bool Makes(std::span<const SeenStep> steps, const SettingTexts& settings) {
  return std::ranges::all_of(
      steps, [&](const SeenStep& step) { return MakesOne(step, settings); });
}

std::vector<Exchange> Explaining(std::span<const SeenStep> steps,
                                 std::span<const Exchange> candidates) {
  const SettingTexts& settings = steps.front().settings;
  if (Makes(steps, settings)) return {};
  for (const Exchange& one : candidates) {
    if (Makes(steps, With(settings, one))) return {one};
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t k = i + 1; k < candidates.size(); ++k) {
      if (candidates[i].name == candidates[k].name) continue;
      const SettingTexts both =
          With(With(settings, candidates[i]), candidates[k]);
      if (Makes(steps, both)) return {candidates[i], candidates[k]};
    }
  }
  return {};
}

std::vector<Exchange> UsualSlips(const std::string& optimizer,
                                 const SettingTexts& settings) {
  std::vector<Exchange> slips;
  const auto& all = quad::Formulas();
  const auto formula =
      std::ranges::find(all, optimizer, &quad::Formula::optimizer);
  if (formula == all.end()) return slips;
  for (const auto& [name, text] : settings) {
    const auto setting =
        std::ranges::find(formula->settings, name, &quad::Setting::name);
    if (setting == formula->settings.end()) continue;
    for (const std::string_view word : setting->words) {
      if (word != text) slips.push_back({name, text, std::string(word)});
    }
    const auto number = file::ParseDouble(text);
    if (!setting->words.empty() || !number.has_value()) continue;
    for (const double other : {0.0, 1.0, 2 * *number, *number / 2}) {
      if (other == *number || !std::isfinite(other)) continue;
      slips.push_back({name, text, file::ToText(other)});
    }
  }
  return slips;
}

Feeder FeederOf(const Graph& graph, std::string_view statistic) {
  for (const Node& node : graph.nodes) {
    const auto found = std::ranges::find_if(node.inputs, [&](const ValueId id) {
      return id != kNoValue && graph[id].name == statistic;
    });
    if (found == node.inputs.end()) continue;
    Feeder feeder{node.op_type, graph[node.outputs[0]].name};
    feeder.is_variance = found - node.inputs.begin() == 4;
    const Attribute* const momentum = node.Find("momentum");
    const auto* const number =
        momentum == nullptr ? nullptr : std::get_if<float>(&momentum->held);
    if (number != nullptr) feeder.momentum = double{*number};
    return feeder;
  }
  return {};
}

std::string SlipOf(const FedNumbers& fed, const Feeder& feeder) {
  constexpr double kOther =
      0.01;  // of a difference that a slip does not explain
  const double m = feeder.momentum;
  std::vector<double> batch;
  for (size_t i = 0; i < fed.before.size(); ++i) {
    batch.push_back((fed.wanted[i] - m * fed.before[i]) / (1 - m));
  }
  const double off = optdiff::L2(fed.got, fed.wanted);
  const auto explains = [&](std::span<const double> slip) {
    return optdiff::L2(fed.got, slip) <= kOther * off;
  };
  if (explains(fed.before)) return "is not fed back";
  if (explains(Mixed(fed.before, batch, 1 - m, m))) {
    return "has the momentum for one minus it";
  }
  const double factor = FactorOf(fed, batch, m);
  if (feeder.is_variance && factor > 1 &&
      explains(Mixed(fed.before, batch, m, (1 - m) * factor))) {
    return StrCat("is the variance of a sample of ",
                  std::lround(factor / (factor - 1)),
                  ", wanted that of a population");
  }
  return "is fed back otherwise";
}

}  // namespace assay::bisect
