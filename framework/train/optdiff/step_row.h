// SPDX-License-Identifier: Apache-2.0
//
// StepRow: a row of optimizer_steps.csv: one tensor of two runs after one step,
// and how far the two are apart. The second run is the judge's unless another
// was asked for.
//
//   StepRow row;
//   row.tensor = "w1.gradient";
//   record->Add(row);

#pragma once

#include <string>

#include "framework/testing/record/columns.h"

namespace assay::optdiff {

struct StepRow : record::Key {
  std::string run_a, run_b, backend_a, backend_b, optimizer_a, optimizer_b,
      preset_a, preset_b, tier_a, tier_b, network, mode;
  int64_t step = 0;
  std::string tensor;
  record::Number l2_diff, linf_diff, rel_l2, max_ulp, expected_growth, limit,
      loss_a, loss_b, oracle_l2_a, oracle_l2_b;
  record::Integer first_divergence;
  std::string outcome;
};

}  // namespace assay::optdiff

namespace assay {
template <>
const record::Table& record::TableOf<optdiff::StepRow>();
}  // namespace assay
