// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/found_row.h"

namespace assay::gradcheck {

void AddFound(const Compared& found, GradientRow* row) {
  row->outcome = found.beyond > 0 || !found.mismatch.empty() ? "fail" : "pass";
  row->case_class = found.unknown == found.count ? "unknown"
                    : found.zeros == found.count ? "zero"
                    : found.kinks > 0            ? "kink"
                                                 : "smooth";
  row->kink_count = found.kinks;
  row->kink_convention = found.convention;
  row->unknown = found.unknown;
  row->nan_mismatch = found.nan_mismatch;
  row->oracle_bound = found.greatest_bound;
  row->limit_source = "units";
  row->max_abs_err = found.max_abs_err;
  row->max_rel_err = found.max_rel_err;
  row->max_unit_err = found.max_units;
  row->p99_unit_err = found.p99_units;
  row->rms_unit_err = found.rms_units;
  if (found.count > 0) {
    row->zero_share =
        static_cast<double>(found.zeros) / static_cast<double>(found.count);
  }
  if (found.worst.index >= 0) {
    row->worst_index = found.worst.index;
    row->want = found.worst.want;
    row->got = found.worst.got;
    row->limit = found.worst.limit;
    row->hard_limit = found.worst.hard_limit;
    row->limit_units = found.worst.units;
    row->limit_depth = found.worst.depth;
    row->limit_bound = found.worst.bound;
    if (found.worst.hull.has_value()) {
      row->hull_low = found.worst.hull->first;
      row->hull_high = found.worst.hull->second;
    }
    row->headroom = 1 - found.worst.share;
  }
}

}  // namespace assay::gradcheck
