// SPDX-License-Identifier: Apache-2.0
//
// Events that write what became of a run as CSV: CurveFile, DatasetWatch and
// WrongSamples. A run that goes on from a checkpoint goes on with its files:
// rows behind the checkpoint are dropped, since their steps are taken again.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/trainer.h"

namespace assay::train {

/// Loss and accuracy of a run against steps, samples and seconds. Rows are made
/// at once and written together.
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

/// Writes down the training set of each epoch as it came: how many of its
/// samples came, how far the classes were from the dataset's own shares, and
/// how long a batch took to come. A sampler that shows each sample once has
/// `distinct` = `samples` and bias 0.
class DatasetWatch : public TrainingEvent {
 public:
  /// A row covers the batches of an epoch that this run drew: after a resume
  /// amid an epoch, those behind the resume. `bias` is half the sum over
  /// classes of the distance between their share among these samples and that
  /// in the dataset, 0 to 1. Seconds are of a batch, from its places to the
  /// memory of the network.
  static constexpr std::string_view kColumns =
      "epoch,batches,samples,distinct,bias,mean_seconds,most_seconds";

  /// The dataset is that of the training set and outlives the run.
  DatasetWatch(std::filesystem::path path, const Dataset& dataset)
      : path_(std::move(path)), dataset_(dataset) {}

  /// Data loss for a file that is there and has other columns.
  Status BeforeRun(const TrainingMoment& moment) override;
  Status BeforeTrainingSet(const TrainingMoment& moment) override;
  Status AfterStep(const TrainingMoment& moment) override;
  Status AfterTrainingSet(const TrainingMoment& moment) override;

 private:
  double Bias() const;

  std::filesystem::path path_;
  const Dataset& dataset_;
  std::set<int64_t> distinct_;
  std::vector<int64_t> by_class_;
  int64_t batches_ = 0, samples_ = 0;
  double seconds_ = 0, most_seconds_ = 0;
};

/// The samples of the last test set that are taken for another class, with what
/// both classes scored.
class WrongSamples : public TrainingEvent {
 public:
  /// The dataset is that of the test set and outlives the run.
  WrongSamples(std::filesystem::path path, const Dataset& dataset)
      : path_(std::move(path)), dataset_(dataset) {}

  Status BeforeTestSet(const TrainingMoment& moment) override;
  Status AfterInference(const TrainingMoment& moment) override;
  Status AfterTestSet(const TrainingMoment& moment) override;

 private:
  std::filesystem::path path_;
  const Dataset& dataset_;
  std::string rows_;
};

}  // namespace assay::train
