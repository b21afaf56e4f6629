// SPDX-License-Identifier: Apache-2.0
//
// The distance of one value from the expected one, flattened to an entry per
// tensor. Measure calls it for each output.
//
//   OutputMetrics entry;
//   entry.output_name = "y";
//   entry.limit = limit;
//   CompareValues(got, want, entry, metrics);

#pragma once

#include <vector>

#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/metric/exact_difference.h"
#include "framework/testing/measure/output_metrics.h"

namespace assay::measure {

/// Appends copies of `entry`, filled, to `metrics`: one per tensor of `want`,
/// at least one. An empty sequence and an optional of none are entries of no
/// elements. Sparse tensors are compared in the form they come in: values as
/// "y", indices as "y.indices".
void CompareValues(const Value& got, const Value& want,
                   const OutputMetrics& entry,
                   std::vector<OutputMetrics>& metrics);

/// Copies the numbers of a difference; `entry.n_elem` is set already. Without
/// elements there is no headroom.
void TakeDifference(const metric::ExactDifference& difference,
                    OutputMetrics& entry);

}  // namespace assay::measure
