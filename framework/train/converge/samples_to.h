// SPDX-License-Identifier: Apache-2.0
//
// SamplesTo: the number of samples that a training run takes until its test set
// comes to an accuracy.
//
//   Goal goal{.model = "lenet5", .accuracy = 0.95};
//   ASSAY_ASSIGN_OR_RETURN(
//       const Reached reached,
//       SamplesTo(goal, digits, backend, optimizer, /*seed=*/7));
//   reached.samples;      // 7680

#pragma once

#include <cstdint>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/rule/optimizers.h"

namespace assay::converge {

struct Goal {
  std::string model = "lenet5";
  double accuracy = 0.95;
  int64_t batch = 64;
  int64_t every = 10;  // steps between two tests
  int64_t most_epochs = 20;
};

struct Reached {
  bool is_reached = false;
  int64_t samples = 0;  // by then, or in all epochs
  double accuracy = 0;  // of the last test
};

/// The seed decides weights and order. Invalid argument for an unknown model or
/// optimizer; declines as NetworkObjective::Load does.
Result<Reached> SamplesTo(const Goal& goal, const train::Split& data,
                          Backend& backend, const train::Wanted& optimizer,
                          uint64_t seed);

}  // namespace assay::converge
