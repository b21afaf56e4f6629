// SPDX-License-Identifier: Apache-2.0
//
// What each backend of a run does with each operator: `assay list operators
// --run`. The page of a run has the same table.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto rows,
//                          OperatorsOf("runs/latest", "suite:node"));
//   std::cout << OperatorsText(rows);

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/field.h"

namespace assay::list {

/// The selected cases of one operator on one backend.
struct OperatorResults {
  std::string op, backend;
  int64_t planned = 0, pass = 0, claimed = 0, claimed_pass = 0, unsupported = 0;
  std::map<std::string, int64_t> declined;  // unsupported, by reason
  record::Number max_ulp, headroom;         // the worst
  int64_t time_us = 0;                      // load, run and judge

  /// "dtype 3, opset 1": why cases are unsupported, the most frequent first.
  std::string Why() const;
};

/// By operator, then by backend. Errors are those of FindResults.
Result<std::vector<OperatorResults>> OperatorsOf(
    const std::filesystem::path& run, std::string_view filter);

/// A table, a line for each operator and backend.
std::string OperatorsText(const std::vector<OperatorResults>& rows);
std::string OperatorsCsv(const std::vector<OperatorResults>& rows);

}  // namespace assay::list
