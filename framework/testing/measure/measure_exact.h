// SPDX-License-Identifier: Apache-2.0
//
// MeasureExact: the distance of outputs, or of the expected data, from an
// oracle's answers.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto answers, ReadAnswers(file));
//   const auto metrics = MeasureExact(seen.outputs, answers, names, limit);
//   metrics[0].max_ulp;  // 0.5 at most where all is correctly rounded

#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/measure/measure.h"

namespace assay::measure {

/// One entry per tensor, as Measure gives them, with `reference` as their
/// reference. Distances of floating-point tensors are from the unrounded
/// numbers (exact_difference.h), with oracle_bound in ULP, and worst_index is
/// the element that is most ULP away; all else is compared with what the answer
/// holds. What the oracle does not know, and what only one of the two has, is
/// no entry. The worst elements are those of `judged`, entries of Measure.
std::vector<OutputMetrics> MeasureExact(
    std::span<const Value> got, std::span<const ExactAnswer> want,
    std::span<const std::string> names, const cases::Limit& limit,
    const std::string& reference, std::span<const OutputMetrics> judged = {});

}  // namespace assay::measure
