// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/quad_optimizers.h"

#include <algorithm>
#include <vector>

#include "framework/train/quad/quad_formulas.h"

namespace assay::quad {

Result<std::unique_ptr<QuadRule>> MakeQuadRule(std::string_view optimizer,
                                               const SettingTexts& settings,
                                               size_t n_parameters) {
  const std::vector<Formula>& all = Formulas();
  const auto formula = std::ranges::find(all, optimizer, &Formula::optimizer);
  if (formula == all.end()) {
    return InvalidArgument("found optimizer ", optimizer, ", wanted one of ",
                           Joined(all, ", ", &Formula::optimizer));
  }
  auto read = Settings::Read(formula->settings, settings);
  if (!read.ok()) return read.status().WithContext(optimizer);
  auto rule = formula->make(*read, n_parameters);
  if (!rule.ok()) return rule.status().WithContext(optimizer);
  return rule;
}

}  // namespace assay::quad
