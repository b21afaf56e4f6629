// SPDX-License-Identifier: Apache-2.0
//
// The row of the table accuracy about one measured output.
//
//   for (const measure::OutputMetrics& m : metrics) {
//     record->Add(AccuracyRowOf(m));
//   }

#pragma once

#include "framework/testing/measure/output_metrics.h"
#include "framework/testing/record/rows.h"

namespace assay::suite {

record::AccuracyRow AccuracyRowOf(const measure::OutputMetrics& m);

}  // namespace assay::suite
