// SPDX-License-Identifier: Apache-2.0
//
// Train: epochs of steps on a dataset, each with its test, and who watches.
//
//   Training training{*objective, optimizer, {&digits.train, shuffled}};
//   training.test = Samples{&digits.test, ordered};
//   training.epochs = 10;
//   training.events.push_back(&stop);
//   ASSAY_ASSIGN_OR_RETURN(const Trained trained, Train(training));

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/data/sampler.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/training_event.h"

namespace assay::train {

/// A dataset, which outlives the run, and in which batches it comes.
struct Samples {
  const Dataset* dataset = nullptr;
  Sampler sampler;
};

/// What the targets of a loss are.
enum class Targets : uint8_t { kClasses, kOneHot };

struct Training {
  /// Its batch is the inputs and the targets of samples; its first output is
  /// their scores, [B, classes], and its loss their mean.
  NetworkObjective& objective;
  Optimizer& optimizer;
  Samples train;
  std::optional<Samples> test = std::nullopt;
  int64_t epochs = 1;
  Targets targets = Targets::kClasses;
  /// The most samples that the network is given at once; 0: a whole batch. The
  /// gradients of a batch are summed in double and rounded once.
  int64_t micro_batch = 0;
  /// Where the run goes on; parameters, running statistics and the optimizer's
  /// state are as they were there.
  Standing from = {};
  std::vector<TrainingEvent*> events = {};  // outlive the run
};

struct Trained {
  int64_t epochs = 0;  // begun, of those of this call
  int64_t steps = 0;   // of the whole run
  Score train;         // of the last epoch, each batch before its step
  Score test;          // behind it
  std::string stop;    // why it ended early; empty where it did not
};

/// Invalid argument for a place to go on at that the run does not have.
Result<Trained> Train(const Training& training);

}  // namespace assay::train
