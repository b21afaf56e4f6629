// SPDX-License-Identifier: Apache-2.0
//
// WrongSamples: the samples of the last test set that are taken for another class, as
// CSV, with what both classes scored.
//
//   WrongSamples wrong("run/wrong_samples.csv", digits.test);
//   training.events.push_back(&wrong);

#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/training_event.h"

namespace assay::train {

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
