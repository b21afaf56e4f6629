// SPDX-License-Identifier: Apache-2.0
//
// The suite optimizer: every optimizer trains small networks of a backend, and
// every tensor of every step is held against a judge's.

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "conformance/optimizer/case.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/record/record.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/step_rows.h"
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
  const std::string_view network = optdiff::AboutNetwork(step_case.network);
  if (!network.empty()) lines->emplace_back("network", network);
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
  return StrCat(text, "; judged ", Text(row.judged_diff), ", limit ",
                Text(row.limit), ", ", row.outcome);
}

/// The lines of `assay explain` about a case.
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
    return limit > 0 ? found.judged_diff.value_or(0) / limit : 0;
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

// The plan's row becomes a case here, and nowhere else.

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts& facts, record::Record* record) {
  const auto step_case = CaseOf(row, facts);
  if (step_case.ok()) return Judge(*step_case, backend, facts, record);
  const Status& status = step_case.status();
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

Lines Explain(const record::PlanRow& row, const record::RunFacts& facts,
              const record::Record& record) {
  const auto step_case = CaseOf(row, facts);
  return step_case.ok() ? Tell(*step_case, record) : Lines();
}

const bool kOptimizerRegistered = suite::AddSuite(
    {.name = "optimizer",
     .cases = &PlannedCases,
     .derives = false,
     .needs_oracle = true,
     .run = &Run,
     .reasons = {{optdiff::kFailLoss, "the loss of a step differs"},
                 {optdiff::kFailGradient, "a gradient of a step differs"},
                 {optdiff::kFailUpdate,
                  "a step differs where its gradients are taken as they are"},
                 {kFailGrowth,
                  "a run leaves the exact one faster than roundings explain"},
                 {kUndecided,
                  "a loss or a gradient could be neither right nor wrong"}},
     .explain = &Explain});

}  // namespace
}  // namespace assay::optimizer
