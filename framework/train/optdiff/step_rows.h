// SPDX-License-Identifier: Apache-2.0
//
// StepRows: the rows of optimizer_steps.csv of one run beside another.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "framework/testing/record/columns.h"
#include "framework/testing/record/record.h"
#include "framework/train/optdiff/beside_judge.h"

namespace assay::optdiff {

/// One tensor of two runs after one step, and how far the two are apart. The
/// second run is the judge's unless another was asked for.
struct StepRow : record::Key {
  std::string run_a, run_b, backend_a, backend_b, optimizer_a, optimizer_b,
      preset_a, preset_b, tier_a, tier_b, network, mode;
  int64_t step = 0;
  std::string tensor;
  record::Number l2_diff, linf_diff, rel_l2, max_ulp, expected_growth,
      judged_diff, limit, loss_a, loss_b, oracle_l2_a, oracle_l2_b;
  record::Integer first_divergence;
  std::string outcome;
};

}  // namespace assay::optdiff

namespace assay {
template <>
const record::Table& record::TableOf<optdiff::StepRow>();
}  // namespace assay

namespace assay::optdiff {

/// Says which rows of passing steps are kept.
struct KeptSteps {
  int64_t first = 5;
  int64_t every = 1;  // of later steps, one in this many
};

class StepRows {
 public:
  /// `names` is a row with the names of the runs filled in. No row is kept
  /// where `record` is null.
  StepRows(StepRow names, KeptSteps kept, record::Record* record)
      : names_(std::move(names)), kept_(kept), record_(record) {}

  void Begin(int64_t step, double loss_a, double loss_b);
  /// Adds a tensor of the step, compared with the judge's. `measured` is an l2
  /// or an linf. Returns true when it is within the limit; a
  /// limit that would show nothing leaves it undecided.
  bool Add(std::string_view tensor, const Distance& distance, double measured,
           double limit, bool is_decided = true);
  int64_t step() const { return step_; }

 private:
  StepRow names_;
  KeptSteps kept_;
  record::Record* record_;
  int64_t step_ = 0;
};

}  // namespace assay::optdiff
