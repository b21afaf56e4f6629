// SPDX-License-Identifier: Apache-2.0
//
// The formulas of all optimizers: their settings, and how one is made. Each
// stands in quad_formulas.cc as its source writes it.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/quad/quad.h"

namespace assay::quad {

struct Formula {
  std::string_view optimizer;
  std::vector<Setting> settings;
  Result<std::unique_ptr<QuadRule>> (*make)(const Settings& settings,
                                            size_t n_parameters);
};

/// One for each name of an optimizer.
const std::vector<Formula>& Formulas();

/// Invalid argument for an optimizer that there is not, and as Settings::Read
/// says. A setting that may be left out is then as if it were not in the
/// formula, a word the first that the README names.
Result<std::unique_ptr<QuadRule>> MakeQuadRule(std::string_view optimizer,
                                               const SettingTexts& settings,
                                               size_t n_parameters);

}  // namespace assay::quad
