// SPDX-License-Identifier: Apache-2.0
//
// Events that log a run line by line: ProgressLine for a person, MlperfLog for
// the tools of MLPerf.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/train/trainer.h"

namespace assay::train {

struct ProgressOptions {
  bool is_terminal = false;
  int64_t epochs = 1;
  int64_t steps = 0;                       // of all epochs
  std::chrono::milliseconds between{250};  // two lines of a terminal
};

/// A run as a person sees it: on a terminal a line that goes along, and
/// everywhere a line for each epoch.
///
///     epoch 1/10: loss 0.3121, accuracy 0.9052; test loss 0.1407, accuracy ...
///     epoch 2/10 step 70/630: loss 0.1182, accuracy 0.9661, 5120 samples/s ...
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

/// A run in the lines of MLPerf's logging specification
/// (mlcommons/training_policies, logging of training): keys run_start,
/// epoch_start, eval_start, eval_accuracy, ... with milliseconds since 1970.
class MlperfLog : public TrainingEvent {
 public:
  /// The stream outlives the run. `facts` are logged once, before it.
  MlperfLog(std::ostream& out, std::map<std::string, std::string> facts)
      : out_(out), facts_(std::move(facts)) {}

  Status BeforeRun(const TrainingMoment& moment) override;
  Status BeforeEpoch(const TrainingMoment& moment) override;
  Status BeforeTestSet(const TrainingMoment& moment) override;
  Status AfterTestSet(const TrainingMoment& moment) override;
  Status AfterEpoch(const TrainingMoment& moment) override;
  Status AfterRun(const TrainingMoment& moment) override;

 private:
  Status Log(const char* type, const char* key, const std::string& value,
             const std::string& metadata);

  std::ostream& out_;
  std::map<std::string, std::string> facts_;
};

}  // namespace assay::train
