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

#include "framework/core/status.h"
#include "framework/train/quad/quad_rule.h"
#include "framework/train/quad/quad_setting.h"

namespace assay::quad {

struct Formula {
  std::string_view optimizer;
  std::vector<Setting> settings;
  Result<std::unique_ptr<QuadRule>> (*make)(const Settings& settings,
                                            size_t n_parameters);
};

/// One for each name of an optimizer.
const std::vector<Formula>& Formulas();

}  // namespace assay::quad
