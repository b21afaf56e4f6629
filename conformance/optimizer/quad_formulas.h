// SPDX-License-Identifier: Apache-2.0
//
// The formulas of all optimizers: their settings, and how one is made. Each
// stands in quad_formulas.cc as its source writes it.
//
//   for (const Formula& formula : Formulas()) {
//     names.push_back(formula.optimizer);  // "gradient_descent", ...
//   }

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "conformance/optimizer/quad_rule.h"
#include "conformance/optimizer/quad_setting.h"
#include "framework/core/status.h"

namespace assay::optimizer {

struct Formula {
  std::string_view optimizer;
  std::vector<Setting> settings;
  Result<std::unique_ptr<QuadRule>> (*make)(const Settings& settings,
                                            size_t n_parameters);
};

/// One for each name of an optimizer.
const std::vector<Formula>& Formulas();

}  // namespace assay::optimizer
