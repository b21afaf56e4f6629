// SPDX-License-Identifier: Apache-2.0
//
// Inexact expected data: outputs of a run's cases for which the corpus is worse
// than a backend, both held against an oracle. The list is fit to be sent to
// the makers of the corpus.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto found, FindInexact("runs/latest"));
//   std::cout << InexactText(found);
//
// An output is listed when, to the oracle, the expected data are
//    - more than 1 ULP plus the oracle's bound away: a faithful rounding of the
//     exact number, up or down, is at most 1 ULP away;
//    - where condition units are known, more than 1 of those away: more than one
//     rounding in every step of the computation, sums apart, can explain; and
//    - further away than the best backend of the run.
// An output is listed, too, when its expected data leave an implementation less
// than half of the case's tolerance: the exact number rounded to 16 bits or
// more leaves more; and, where there is none, when they are not so rounded.
// Cases made of another's expected data (`_expanded`) are left out.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/rows.h"

namespace assay::list {

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
