// SPDX-License-Identifier: Apache-2.0

#include "framework/train/event/stop.h"

#include <cmath>
#include <span>

#include "framework/train/checkpoint/tensor_file.h"

namespace assay::train {

Status StopOnNan::AfterStep(const TrainingMoment& moment) {
  if (std::isfinite(moment.loss) || gradients_.empty()) return OkStatus();
  TensorFile file;
  file.notes["step"] = StrCat(moment.steps);
  file.notes["loss"] = StrCat(moment.loss);
  const std::span<const Parameter> parameters = moment.objective.parameters();
  const std::span<const Value> gradients = moment.objective.gradients();
  for (size_t p = 0; p < gradients.size(); ++p) {
    file.tensors.emplace_back(parameters[p].name, *gradients[p].tensor());
  }
  return WriteTensorFile(gradients_, file);
}

std::string StopOnNan::StopAfterStep(const TrainingMoment& moment) {
  has_stopped_ = !std::isfinite(moment.loss);
  if (!has_stopped_) return "";
  return StrCat("the loss of step ", moment.steps, " is ",
                std::isnan(moment.loss) ? "NaN" : "infinite");
}

std::string StopAtAccuracy::StopAfterTest(const TrainingMoment& moment) {
  if (moment.test.samples == 0 || moment.test.accuracy() < accuracy_) return "";
  return StrCat("the test set came to an accuracy of ", moment.test.accuracy());
}

std::string StopAtTime::StopAfterStep(const TrainingMoment&) {
  const auto gone = std::chrono::steady_clock::now() - began_;
  if (gone < most_) return "";
  return StrCat("the run took its ", most_.count(), " s");
}

}  // namespace assay::train
