// SPDX-License-Identifier: Apache-2.0
//
// The results of a run that a query selects: `assay list results`.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto rows,
//                          FindResults("runs/latest", "outcome:fail op:Conv"));
//   std::cout << ResultsText(rows);

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/rows.h"

namespace assay::list {

/// In the order of the run's table. Invalid argument for a folder that is no
/// run, for a query that is wrong or asks for attributes, which a run does not
/// keep, and where nothing matches.
Result<std::vector<record::ResultRow>> FindResults(
    const std::filesystem::path& run, std::string_view filter);

/// A line each: outcome, backend, test_id and the first line of the message;
/// then how many of each outcome.
std::string ResultsText(const std::vector<record::ResultRow>& rows);

/// results.csv of these rows.
std::string ResultsCsv(const std::vector<record::ResultRow>& rows);

}  // namespace assay::list
