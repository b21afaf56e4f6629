// SPDX-License-Identifier: Apache-2.0
//
// ProgressLine: what a person sees of a run: on a terminal a line that goes along, and
// everywhere a line for each epoch.
//
//   ProgressLine progress(std::cout, {.is_terminal = true, .epochs = 10, .steps = 6300});
//   training.events.push_back(&progress);
//
//     epoch 1/10: loss 0.3121, accuracy 0.9052; test loss 0.1407, accuracy 0.9570
//     epoch 2/10 step 70/630: loss 0.1182, accuracy 0.9661, 5120 samples/s, 7 s left

#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>

#include "framework/core/status.h"
#include "framework/train/training_event.h"

namespace assay::train {

struct ProgressOptions {
  bool is_terminal = false;
  int64_t epochs = 1;
  int64_t steps = 0;                       // of all epochs
  std::chrono::milliseconds between{250};  // two lines of a terminal
};

class ProgressLine : public TrainingEvent {
 public:
  /// The stream outlives the run.
  ProgressLine(std::ostream& out, const ProgressOptions& options)
      : out_(out), options_(options) {}

  Status BeforeRun(const TrainingMoment& moment) override;
  Status AfterStep(const TrainingMoment& moment) override;
  Status BeforeEpoch(const TrainingMoment& moment) override;
  Status AfterTestSet(const TrainingMoment& moment) override;
  Status AfterEpoch(const TrainingMoment& moment) override;
  Status AfterRun(const TrainingMoment& moment) override;

 private:
  using Clock = std::chrono::steady_clock;

  void Clear();

  std::ostream& out_;
  ProgressOptions options_;
  Clock::time_point began_, shown_;
  int64_t began_at_ = 0;  // steps
  int64_t samples_ = 0;
  bool is_shown_ = false;
  bool is_tested_ = false;  // in this epoch
};

}  // namespace assay::train
