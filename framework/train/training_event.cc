// SPDX-License-Identifier: Apache-2.0

#include "framework/train/training_event.h"

#include <cmath>

namespace assay::train {

double Score::mean_loss() const {
  return samples == 0 ? 0 : loss / static_cast<double>(samples);
}

double Score::accuracy() const {
  return samples == 0
             ? 0
             : static_cast<double>(right) / static_cast<double>(samples);
}

std::string StopOnNan::StopAfterStep(const TrainingMoment& moment) {
  if (std::isfinite(moment.loss)) return "";
  return StrCat("the loss of step ", moment.steps, " is ",
                std::isnan(moment.loss) ? "NaN" : "infinite");
}

std::string StopAtAccuracy::StopAfterTest(const TrainingMoment& moment) {
  if (moment.test.samples == 0 || moment.test.accuracy() < accuracy_) return "";
  return StrCat("the test set came to an accuracy of ", moment.test.accuracy());
}

}  // namespace assay::train
