// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a comparison on their way from the metric to the table
// accuracy. A new one is computed in framework/metric, has a member in
// AccuracyNumbers (rows.h), and a line in accuracy.cc; nothing between knows
// them one by one.
//
//   TakeNumbers(metric::CompareExact(got, want, tolerance), &metrics);
//   metrics.max_ulp;  // absent where it has no meaning

#pragma once

#include "framework/metric/exact_difference.h"
#include "framework/testing/record/rows.h"

namespace assay::record {

void TakeNumbers(const metric::ExactDifference& difference,
                 AccuracyNumbers* numbers);

}  // namespace assay::record
