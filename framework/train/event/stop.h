// SPDX-License-Identifier: Apache-2.0
//
// Events that end a run before its last epoch.

#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/train/trainer.h"

namespace assay::train {

/// Ends a run whose loss is NaN or infinite, and keeps the gradients of that
/// step.
class StopOnNan : public TrainingEvent {
 public:
  /// The gradients go to that file, in the safetensors format; empty: nowhere.
  explicit StopOnNan(std::filesystem::path gradients = {})
      : gradients_(std::move(gradients)) {}
  Status AfterStep(const TrainingMoment& moment) override;
  std::string StopAfterStep(const TrainingMoment& moment) override;

  bool has_stopped() const { return has_stopped_; }

 private:
  bool has_stopped_ = false;
  std::filesystem::path gradients_;
};

/// Ends a run whose test set comes to an accuracy, 0 to 1.
class StopAtAccuracy : public TrainingEvent {
 public:
  explicit StopAtAccuracy(double accuracy) : accuracy_(accuracy) {}
  std::string StopAfterTest(const TrainingMoment& moment) override;

 private:
  double accuracy_;
};

/// Ends a run behind the first step that ends later.
class StopAtTime : public TrainingEvent {
 public:
  explicit StopAtTime(std::chrono::duration<double> most) : most_(most) {}
  Status BeforeRun(const TrainingMoment&) override {
    began_ = std::chrono::steady_clock::now();
    return OkStatus();
  }
  std::string StopAfterStep(const TrainingMoment& moment) override;

 private:
  std::chrono::duration<double> most_;
  std::chrono::steady_clock::time_point began_;
};

/// Ends a run behind the step in which somebody, such as the handler of a
/// signal, sets the flag, which outlives it.
class StopWhenAsked : public TrainingEvent {
 public:
  explicit StopWhenAsked(const std::atomic<bool>& asked) : asked_(asked) {}
  std::string StopAfterStep(const TrainingMoment&) override {
    return asked_.load() ? "it was asked to" : "";
  }

 private:
  const std::atomic<bool>& asked_;
};

}  // namespace assay::train
