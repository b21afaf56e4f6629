// SPDX-License-Identifier: Apache-2.0
//
// GraphRuleOf: the rules of optimizers as nodes of ONNX, by name, with the
// conventions of a framework.
//
//   ASSAY_ASSIGN_OR_RETURN(const ReadRule adam,
//                          GraphRuleOf({"adam", "keras", "rate=0.01"}));
//   adam.rule.update.nodes;   // "first_moment_kept = Mul(beta1, first_moment) ..."
//
// The formulas and their sources are those of framework/train/rule.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/graph_rule/rule_graph.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/rule/optimizers.h"

namespace assay::train {

/// A rule, what surrounds it, and all settings of both, by name.
struct ReadRule {
  GraphRule rule;
  Recipe recipe;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// As MakeOptimizer reads them; unsupported for an optimizer that HasGraphRule
/// does not know.
Result<ReadRule> GraphRuleOf(const Wanted& wanted, Recipe recipe = {});

/// False for accelegrad, whose step depends on the gradients of all parameters
/// together.
bool HasGraphRule(std::string_view optimizer);

}  // namespace assay::train
