// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/step_rows.h"

namespace assay {
namespace {

using Row = optdiff::StepRow;

}  // namespace

template <>
const record::Table& record::TableOf<Row>() {
  static const Table table = CaseTable<Row>(
      "optimizer_steps",
      {ASSAY_COLUMN(run_a, "which run is compared"),
       ASSAY_COLUMN(run_b, "with which"),
       ASSAY_COLUMN(backend_a, "instance"),
       ASSAY_COLUMN(backend_b, "instance"),
       ASSAY_COLUMN(optimizer_a, "by name"),
       ASSAY_COLUMN(optimizer_b, "by name"),
       ASSAY_COLUMN(preset_a, "whose conventions it has"),
       ASSAY_COLUMN(preset_b, "whose conventions it has"),
       ASSAY_COLUMN(tier_a, "rule, graph, native; quad for the judge"),
       ASSAY_COLUMN(tier_b, "rule, graph, native; quad for the judge"),
       ASSAY_COLUMN(network, "that is trained"),
       ASSAY_COLUMN(mode, "locked: each step from one state; free: its own"),
       ASSAY_COLUMN(step, "from 1"),
       ASSAY_COLUMN(tensor,
                    "a parameter; PARAMETER.gradient, PARAMETER.STATE; loss"),
       ASSAY_COLUMN(l2_diff, "norm of the difference"),
       ASSAY_COLUMN(linf_diff, "its greatest element"),
       ASSAY_COLUMN(rel_l2, "l2_diff over the norm of b's"),
       ASSAY_COLUMN(judged_diff,
                    "the one of l2_diff and linf_diff that is judged"),
       ASSAY_COLUMN(max_ulp, "greatest distance in units of a's type"),
       ASSAY_COLUMN(expected_growth, "l2 that roundings explain"),
       ASSAY_COLUMN(limit,
                    "of l2_diff, or of linf_diff in an update, where its share "
                    "is that of the element nearest to its own limit"),
       ASSAY_COLUMN(loss_a, "of the step"),
       ASSAY_COLUMN(loss_b, "of the step"),
       ASSAY_COLUMN(oracle_l2_a, "norm of a's distance from the judge"),
       ASSAY_COLUMN(oracle_l2_b, "norm of b's distance from the judge"),
       ASSAY_COLUMN(first_divergence, "the first step beyond its limit"),
       ASSAY_COLUMN(outcome, "of this tensor: pass, fail, undecided")});
  return table;
}

}  // namespace assay

namespace assay::optdiff {
namespace {

const bool kAdded = record::AddTable(record::TableOf<StepRow>());

}  // namespace

void StepRows::Begin(int64_t step, double loss_a, double loss_b) {
  step_ = names_.step = step;
  names_.loss_a = loss_a;
  names_.loss_b = loss_b;
}

bool StepRows::Add(std::string_view tensor, const Distance& distance,
                   double measured, double limit, bool is_decided) {
  const bool is_within = measured <= limit;
  if (record_ == nullptr) return is_within;
  if (is_within && step_ > kept_.first && step_ % kept_.every != 0) return true;
  StepRow row = names_;
  row.tensor = tensor;
  row.l2_diff = row.oracle_l2_a = distance.l2;
  row.linf_diff = distance.linf;
  row.rel_l2 = distance.relative();
  row.judged_diff = measured;
  row.max_ulp = distance.max_ulp;
  row.expected_growth = distance.explained;
  row.limit = limit;
  row.oracle_l2_b = 0;
  if (!is_within) row.first_divergence = step_;
  row.outcome = !is_within ? "fail" : is_decided ? "pass" : "undecided";
  record_->Add(row);
  return is_within;
}

}  // namespace assay::optdiff
