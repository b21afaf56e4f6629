// SPDX-License-Identifier: Apache-2.0
//
// Train: epochs of steps on a dataset, each with its test, and who watches: a
// TrainingEvent, at the 14 moments of the Deep500 thesis, chapter 4, in this
// order:
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
// A stop is asked for and no exception: the run ends as it does by itself.
// Events that many need are in event/.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

/// The score of a set so far; each sample counts once.
struct Score {
  int64_t samples = 0;
  int64_t right = 0;  // the greatest score is the label's
  double loss = 0;    // the sum over the samples

  double mean_loss() const {
    return samples == 0 ? 0 : loss / static_cast<double>(samples);
  }
  double accuracy() const {
    return samples == 0
               ? 0
               : static_cast<double>(right) / static_cast<double>(samples);
  }
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

/// A dataset, which outlives the run, and in which batches it comes.
struct Samples {
  const Dataset* dataset = nullptr;
  Sampler sampler;
};

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
