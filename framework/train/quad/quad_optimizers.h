// SPDX-License-Identifier: Apache-2.0
//
// MakeQuadRule: an optimizer in quad precision by its name and settings.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const std::unique_ptr<QuadRule> rule,
//       MakeQuadRule("adagrad", {{"rate", "0.1"}, {"epsilon", "0"}}, 1));

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "framework/core/status.h"
#include "framework/train/quad/quad_rule.h"
#include "framework/train/quad/quad_setting.h"

namespace assay::quad {

/// Invalid argument for an optimizer that there is not, and as Settings::Read
/// says. A setting that may be left out is then as if it were not in the
/// formula, a word the first that the README names.
Result<std::unique_ptr<QuadRule>> MakeQuadRule(std::string_view optimizer,
                                               const SettingTexts& settings,
                                               size_t n_parameters);

}  // namespace assay::quad
