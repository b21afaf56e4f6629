// SPDX-License-Identifier: Apache-2.0
//
// ComparisonReport: the verdicts on all cases of a comparison, as text and as
// compare.csv.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/record.h"
#include "framework/testing/times/row.h"
#include "framework/timing/comparison.h"

namespace assay::compare {

/// One case that both ran right.
struct Compared {
  std::string test_id;
  times::CompareRow first;
  std::optional<times::CompareRow> second;  // of those that looked apart
  double q_value = 1;                       // of the first, among all
  timing::Verdict verdict = timing::Verdict::kUnsure;
};

/// The row of a record of the suite compare. Nothing where it has none, as that
/// of a case which one of the two declines.
Result<std::optional<Compared>> ComparedIn(const record::Record& record);

/// Fills the q-values.
void AddQValues(std::vector<Compared>* all);

/// True for a case that is to be timed again.
bool LooksApart(const Compared& compared, const timing::Thresholds& thresholds);

/// Fills the verdicts.
void AddVerdicts(const timing::Thresholds& thresholds,
                 std::vector<Compared>* all);

int64_t Count(const std::vector<Compared>& all, timing::Verdict verdict);

/// Verdict and case; below them ratio, interval and times, and what is added.
std::string CaseText(const Compared& one, const std::string& more = "");

/// The count of each verdict; the cases, those first that are better or worse,
/// each with the least slowdown that would be found; and how small that is in
/// all of them.
std::string TextOf(const std::vector<Compared>& all, const std::string& base,
                   const std::string& candidate,
                   const timing::Thresholds& thresholds);

/// compare.csv: a row a case.
std::string CsvOf(const std::vector<Compared>& all,
                  const timing::Thresholds& thresholds);

}  // namespace assay::compare
