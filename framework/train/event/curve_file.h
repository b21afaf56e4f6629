// SPDX-License-Identifier: Apache-2.0
//
// CurveFile: loss and accuracy of a run against steps, samples and seconds, as CSV. Rows
// are made at once and written together. A run that goes on from a checkpoint goes
// on with its file: rows behind the checkpoint are dropped, since their steps are taken
// again.
//
//   CurveFile curves("run/curves.csv", /*every=*/10);
//   training.events.push_back(&curves);

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/training_event.h"

namespace assay::train {

class CurveFile : public TrainingEvent {
 public:
  static constexpr std::string_view kColumns =
      "epoch,step,samples,seconds,set,loss,accuracy";

  /// A row of the training set each so many steps, of that batch and of the
  /// epoch's samples so far; one of the test set behind each epoch.
  CurveFile(std::filesystem::path path, int64_t every)
      : path_(std::move(path)), every_(every) {}

  /// Data loss for a file that is there and has other columns.
  Status BeforeRun(const TrainingMoment& moment) override;
  Status AfterStep(const TrainingMoment& moment) override;
  Status AfterTestSet(const TrainingMoment& moment) override;
  Status AfterRun(const TrainingMoment& moment) override;

  /// Rows are in the file behind this, behind each test set and at the end, and
  /// with the first row that comes a second after the last time. Resource
  /// exhausted.
  Status Flush();

 private:
  struct Row {
    int64_t epoch, step, samples;
    double seconds;
    std::string_view set;  // of a literal
    double loss, accuracy;
  };

  Status KeepUntil(int64_t steps);
  Status Add(const TrainingMoment& moment, std::string_view set, double loss,
             double accuracy);

  std::filesystem::path path_;
  int64_t every_;
  std::ofstream out_;
  std::vector<Row> rows_;      // not in the file yet
  int64_t samples_ = 0;        // of all epochs
  double seconds_before_ = 0;  // of the run that this one goes on with
  std::chrono::steady_clock::time_point began_, flushed_;
};

}  // namespace assay::train
