// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/tell.h"

#include <algorithm>
#include <map>
#include <string>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/train/optdiff/network.h"
#include "framework/train/optdiff/step_row.h"
#include "framework/train/rule/optimizers.h"

namespace assay::optimizer {
namespace {

using Lines = std::vector<suite::Labelled>;

std::string Text(const record::Number& number) {
  return number.has_value() ? file::ToText(*number) : std::string("?");
}

void TellCase(const StepCase& step_case, Lines* lines) {
  const auto presets = train::Presets();
  const auto preset = std::ranges::find_if(presets, [&](const auto& p) {
    return p.optimizer == step_case.optimizer && p.name == step_case.preset;
  });
  if (preset != presets.end()) {
    lines->emplace_back("optimizer",
                        StrCat(preset->optimizer, ", ", preset->source, ": ",
                               preset->settings));
  }
  if (step_case.tier == Tier::kGraph) {
    lines->emplace_back("rule", "a graph, which the backend runs");
  }
  if (step_case.tier == Tier::kNative) {
    lines->emplace_back("rule", "the backend's own step");
  }
  const auto networks = optdiff::Networks();
  const auto network = std::ranges::find(networks, step_case.network,
                                         &optdiff::NetworkName::name);
  if (network != networks.end()) {
    lines->emplace_back("network", network->what);
  }
  lines->emplace_back(
      "mode",
      step_case.mode == Mode::kLocked
          ? StrCat(step_case.steps(),
                   " steps, each from where the backend's last ended")
          : StrCat(step_case.steps(), " steps; the judge goes its own way"));
}

std::string RowText(const optdiff::StepRow& row) {
  std::string text =
      StrCat("step ", row.step, ": l2 ", Text(row.l2_diff), ", linf ",
             Text(row.linf_diff), ", relative ", Text(row.rel_l2));
  if (row.max_ulp.value_or(0) > 0) {
    text += StrCat(", ", Text(row.max_ulp), " ulp");
  }
  return StrCat(text, "; limit ", Text(row.limit), ", ", row.outcome);
}

}  // namespace

Lines Tell(const StepCase& step_case, const record::Record& record) {
  Lines lines;
  TellCase(step_case, &lines);
  const auto rows = record.Rows<optdiff::StepRow>();
  if (!rows.ok()) return lines;
  // For each tensor the step that fails, or the one nearest to its limit.
  std::map<std::string, optdiff::StepRow> worst;
  const auto share = [](const optdiff::StepRow& found) {
    if (found.outcome == "fail") return 2.0;
    const double limit = found.limit.value_or(0);
    return limit > 0 ? found.l2_diff.value_or(0) / limit : 0;
  };
  for (const optdiff::StepRow& found : *rows) {
    const auto [at, is_new] = worst.emplace(found.tensor, found);
    if (!is_new && share(found) > share(at->second)) at->second = found;
  }
  for (const auto& [tensor, found] : worst) {
    lines.emplace_back(tensor, RowText(found));
  }
  return lines;
}

}  // namespace assay::optimizer
