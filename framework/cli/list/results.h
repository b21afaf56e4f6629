// SPDX-License-Identifier: Apache-2.0
//
// The results of a run that a query selects, `assay list results`, and what
// each backend does with each operator in them, `assay list operators --run`;
// and the expected data that are worse than a backend of it, `assay list
// inexact`.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/field.h"
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

/// The selected cases of one operator on one backend.
struct OperatorResults {
  std::string op, backend;
  int64_t planned = 0, pass = 0, claimed = 0, claimed_pass = 0, unsupported = 0;
  std::map<std::string, int64_t> declined;  // unsupported, by reason
  record::Number max_ulp, headroom;         // the worst
  int64_t time_us = 0;                      // load and run, no judge

  /// "dtype 3, opset 1": why cases are unsupported, the most frequent first.
  std::string Why() const;
};

/// By operator, then by backend. Errors are those of FindResults.
Result<std::vector<OperatorResults>> OperatorsOf(
    const std::filesystem::path& run, std::string_view filter);

/// A table, a line for each operator and backend.
std::string OperatorsText(const std::vector<OperatorResults>& rows);
std::string OperatorsCsv(const std::vector<OperatorResults>& rows);

/// An output of a run's case for which the corpus is worse than a backend, both
/// held against an oracle. A list of them is fit to be sent to the makers of
/// the corpus. An output is listed when, to the oracle, the expected data are
///    - more than 1 ULP plus the oracle's bound away: a faithful rounding of
///      the exact number, up or down, is at most 1 ULP away;
///    - where condition units are known, more than 1 of those away: more than
///      one rounding in every step of the computation, sums apart, can explain;
///      and
///    - further away than the best backend of the run.
/// An output is listed, too, when its expected data leave an implementation
/// less than half of the case's tolerance: the exact number rounded to 16 bits
/// or more leaves more; and, where there is none, when they are not so rounded.
/// Cases made of another's expected data (`_expanded`) are left out.
struct Inexact {
  record::AccuracyRow expected;  // against the oracle
  record::AccuracyRow backend;   // the best of the run, against the oracle
  int64_t data_set = 0;
};

/// Distances, worst first: elements of NaN or infinity on one side only, then
/// by ULP, then by test_id; last those that the oracle leaves undecided.
std::vector<Inexact> FindInexact(const std::vector<record::AccuracyRow>& rows,
                                 const std::vector<record::PlanRow>& planned);

/// The same of a run folder. Invalid argument for a folder that is no run, and
/// for a run without an oracle.
Result<std::vector<Inexact>> FindInexact(const std::filesystem::path& run);

/// Lines of at most 80 columns; of each output the case, both distances and the
/// worst element.
std::string InexactText(const std::vector<Inexact>& found);

}  // namespace assay::list
