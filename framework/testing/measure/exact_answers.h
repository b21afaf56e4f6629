// SPDX-License-Identifier: Apache-2.0
//
// Exact answers on disk: the values that a backend's Exact gives for one data
// set of a case, in a file of its own that shows when it is torn.
//
// An oracle's worker writes them, the supervisor checks that they are there,
// and the worker that measures reads them. So a hostile backend and the oracle
// share files only, never a process.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/status.h"

namespace assay::measure {

/// The version of the files below and of how answers are asked for. Another
/// one makes all kept answers stale.
inline constexpr int kAnswersFormat = 4;

/// The answer of an ExactRun for one output, one gradient or one tangent. What
/// was not asked for, or not answered, is undefined.
struct ExactAnswer : ExactValue {
  Tensor units = {};       // of UnitKind::kCondition
  Tensor hard_units = {};  // of UnitKind::kHard
  ExactHull hull = {};
};

/// The answers to the questions about one data set, each a list under the name
/// of its question (suite/question.h).
using ExactAnswers =
    std::map<std::string, std::vector<ExactAnswer>, std::less<>>;

/// The precision that answers to a case of these element types are asked for
/// in: twice that of its widest type. `dtypes` as in a plan's row.
Precision OraclePrecision(std::string_view dtypes);
std::string_view ToString(Precision precision);

/// The file of a data set below a case's folder.
std::filesystem::path AnswersFile(const std::filesystem::path& folder,
                                  size_t data_set);

/// Makes the folder. Resource exhausted, with the file and the reason, when it
/// cannot be written; the file is then there whole, as it was, or not at all.
Status WriteAnswers(const std::filesystem::path& file,
                    const ExactAnswers& answers);

/// Not found, or data loss for a file that is torn, was
/// changed or is of another format.
Result<ExactAnswers> ReadAnswers(const std::filesystem::path& file);

}  // namespace assay::measure
