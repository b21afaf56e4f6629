// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/convention.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "framework/file/csv.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/quad/quad_formulas.h"
#include "framework/train/quad/quad_optimizers.h"

namespace assay::bisect {
namespace {

using quad::Quad;
using quad::QuadTensor;
using quad::SettingTexts;

SettingTexts With(SettingTexts settings, const Exchange& exchange) {
  for (auto& [name, text] : settings) {
    if (name == exchange.name) text = exchange.to;
  }
  return settings;
}

Quad Magnitude(Quad x) { return x < 0 ? -x : x; }

bool IsWithin(const QuadTensor& got, const QuadTensor& want, double allowed) {
  Quad greatest = 0;
  Quad off = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    greatest = std::max(greatest, Magnitude(want[i]));
    const Quad apart = Magnitude(got[i] - want[i]);
    if (!(apart <= off)) off = apart;
  }
  return off <= allowed * greatest;
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
  const double allowed = optdiff::UpdateLimit(step.type);
  for (size_t p = 0; p < x.size(); ++p) {
    if (!IsWithin(step.result[p], x[p], allowed)) return false;
  }
  for (size_t p = 0; p < step.left.size(); ++p) {
    for (const auto& [name, tensor] : step.left[p]) {
      const QuadTensor* const slot = (*rule)->Slot(p, name);
      if (slot != nullptr && !IsWithin(tensor, *slot, allowed)) return false;
    }
  }
  return true;
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

}  // namespace assay::bisect
