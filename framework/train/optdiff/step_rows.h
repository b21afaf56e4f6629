// SPDX-License-Identifier: Apache-2.0
//
// StepRows: the rows of optimizer_steps.csv of one run beside another.
//
//   StepRows rows({.backend_a = "acme", .network = "mlp"}, {.every = 100},
//                 &record);
//   rows.Begin(/*step=*/1, loss, judges_loss);
//   const bool is_within =
//       rows.Add("w.gradient", distance, distance.l2, limit);

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "framework/testing/record/record.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/step_row.h"

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
  /// or an linf. Returns true when it is within the limit.
  bool Add(std::string_view tensor, const Distance& distance, double measured,
           double limit);
  int64_t step() const { return step_; }

 private:
  StepRow names_;
  KeptSteps kept_;
  record::Record* record_;
  int64_t step_ = 0;
};

}  // namespace assay::optdiff
