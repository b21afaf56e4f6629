// SPDX-License-Identifier: Apache-2.0
//
// The coverage of the operators as a table, and its holes as lines.
//
//   std::cout << CoverageTable(rows) << HoleLines(rows);

#pragma once

#include <string>
#include <vector>

#include "framework/cli/list/coverage.h"

namespace assay::list {

/// A line of titles, one per operator with what is touched of what there is,
/// one of totals. 80 columns where there are no scores.
std::string CoverageTable(const std::vector<Coverage>& rows);

/// A line per hole: "ai.onnx::Elu dtype T float16".
std::string HoleLines(const std::vector<Coverage>& rows);

}  // namespace assay::list
