// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/step_rows.h"

namespace assay::optdiff {

void StepRows::Begin(int64_t step, double loss_a, double loss_b) {
  step_ = names_.step = step;
  names_.loss_a = loss_a;
  names_.loss_b = loss_b;
}

bool StepRows::Add(std::string_view tensor, const Distance& distance,
                   double measured, double limit) {
  const bool is_within = measured <= limit;
  if (record_ == nullptr) return is_within;
  if (is_within && step_ > kept_.first && step_ % kept_.every != 0) return true;
  StepRow row = names_;
  row.tensor = tensor;
  row.l2_diff = row.oracle_l2_a = distance.l2;
  row.linf_diff = distance.linf;
  row.rel_l2 = distance.relative();
  row.max_ulp = distance.max_ulp;
  row.expected_growth = distance.explained;
  row.limit = limit;
  row.oracle_l2_b = 0;
  if (!is_within) row.first_divergence = step_;
  row.outcome = is_within ? "pass" : "fail";
  record_->Add(row);
  return is_within;
}

}  // namespace assay::optdiff
