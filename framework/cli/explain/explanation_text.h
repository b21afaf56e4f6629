// SPDX-License-Identifier: Apache-2.0
//
// An explanation as lines for a person and as JSON for a program.
//
//   for (const Explanation& e : found) std::cout << ExplanationText(e);

#pragma once

#include <string>
#include <vector>

#include "framework/cli/explain/explanation.h"

namespace assay::explain {

/// Lines of at most 80 columns; the command of repro alone keeps words whole.
std::string ExplanationText(const Explanation& explanation);

/// {"run": ..., "cases": [...]}, the rows with the names of their columns.
std::string ExplanationJson(const std::vector<Explanation>& explanations);

}  // namespace assay::explain
