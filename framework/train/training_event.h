// SPDX-License-Identifier: Apache-2.0
//
// TrainingEvent: something that watches a training run, at the 14 moments of the
// Deep500 thesis, chapter 4, in this order:
//
//     BeforeRun
//       BeforeEpoch
//         BeforeTrainingSet
//           BeforeStep  AfterStep  StopAfterStep
//         AfterTrainingSet
//         BeforeTestSet
//           BeforeInference  AfterInference
//         AfterTestSet
//       AfterEpoch  StopAfterTest
//     AfterRun
//
// A stop is asked for and no exception: the run ends as it does by itself. Events
// that many need are in event/.

#pragma once

#include <cstdint>
#include <string>

#include "framework/core/status.h"
#include "framework/train/data/sampler.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

/// What a set came to so far, each sample counted once.
struct Score {
  int64_t samples = 0;
  int64_t right = 0;  // the greatest score is the label's
  double loss = 0;    // the sum over the samples

  double mean_loss() const;
  double accuracy() const;
};

/// Where a run is and what it came to. With the parameters, running statistics
/// and the optimizer's state it is all that the rest of the run depends on.
struct Standing {
  int64_t epoch = 0;    // of the next step, from 0
  int64_t batches = 0;  // of that epoch, done
  int64_t steps = 0;    // done in the whole run
  Score train;          // of that epoch; of the one before until it has a step
  Score test;           // of the last test set
};

struct TrainingMoment : Standing {
  Batch batch;               // the last one
  double loss = 0;           // its mean loss
  double batch_seconds = 0;  // from its places to the memory of the network
  /// In AfterRun: the run ends by an error, amid a step perhaps.
  bool has_failed = false;
  NetworkObjective& objective;
  Optimizer& optimizer;
};

/// Every member does nothing by default. A failed Status ends the run and is
/// returned by it; AfterRun is called even then, for each event whose BeforeRun
/// succeeded. Events run in the order of addition before, and in reverse order
/// after.
class TrainingEvent {
 public:
  virtual ~TrainingEvent() = default;

  virtual Status BeforeRun(const TrainingMoment&) { return OkStatus(); }
  virtual Status BeforeEpoch(const TrainingMoment&) { return OkStatus(); }
  virtual Status BeforeTrainingSet(const TrainingMoment&) { return OkStatus(); }
  virtual Status BeforeStep(const TrainingMoment&) { return OkStatus(); }
  virtual Status AfterStep(const TrainingMoment&) { return OkStatus(); }
  virtual Status AfterTrainingSet(const TrainingMoment&) { return OkStatus(); }
  virtual Status BeforeTestSet(const TrainingMoment&) { return OkStatus(); }
  virtual Status BeforeInference(const TrainingMoment&) { return OkStatus(); }
  virtual Status AfterInference(const TrainingMoment&) { return OkStatus(); }
  virtual Status AfterTestSet(const TrainingMoment&) { return OkStatus(); }
  virtual Status AfterEpoch(const TrainingMoment&) { return OkStatus(); }
  virtual Status AfterRun(const TrainingMoment&) { return OkStatus(); }

  /// Why the run is to end; empty: it goes on.
  virtual std::string StopAfterStep(const TrainingMoment&) { return ""; }
  virtual std::string StopAfterTest(const TrainingMoment&) { return ""; }
};

}  // namespace assay::train
