// SPDX-License-Identifier: Apache-2.0
//
// DatasetWatch: what the training set of each epoch really was, as CSV: how many of its
// samples came, how far the classes were from the dataset's own shares, and how long a
// batch took to come.
//
//   DatasetWatch watch("run/epochs.csv", digits.train);
//   training.events.push_back(&watch);
//
// A sampler that shows each sample once has `distinct` = `samples` and bias 0.

#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/training_event.h"

namespace assay::train {

class DatasetWatch : public TrainingEvent {
 public:
  /// Of the batches of an epoch that this run drew: after a resume amid an
  /// epoch those behind it. `bias` is half the sum over classes of the distance
  /// between their share among these samples and that in the dataset, 0 to 1;
  /// seconds are of a batch, from its places to the memory of the network.
  static constexpr std::string_view kColumns =
      "epoch,batches,samples,distinct,bias,mean_seconds,most_seconds";

  /// The dataset is that of the training set and outlives the run.
  DatasetWatch(std::filesystem::path path, const Dataset& dataset)
      : path_(std::move(path)), dataset_(dataset) {}

  /// Rows of epochs that are taken again are dropped. Data loss for a file that
  /// is there and has other columns.
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

}  // namespace assay::train
