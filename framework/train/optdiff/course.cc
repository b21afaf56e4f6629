// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/course.h"

#include <utility>

namespace assay::optdiff {

Course CourseOf(std::string name, TrainedNetwork narrow, TrainedNetwork wide,
                int64_t steps) {
  Course course;
  course.name = std::move(name);
  course.narrow = {narrow.model, narrow.parameters};
  course.wide = {wide.model, wide.parameters};
  course.steps = steps;
  course.batch = [narrow = std::move(narrow.batches),
                  wide = std::move(wide.batches)](int64_t step) {
    const size_t i = static_cast<size_t>(step - 1) % narrow.size();
    return StepBatch{narrow[i], wide[i]};
  };
  return course;
}

Result<std::unique_ptr<train::NetworkObjective>> Load(
    const Beginning& beginning, Backend& backend) {
  train::Trainee trainee;
  trainee.model = beginning.model;
  for (const train::Parameter& parameter : beginning.parameters) {
    ASSAY_ASSIGN_OR_RETURN(Tensor own, parameter.value.Clone());
    trainee.parameters.push_back({parameter.name, std::move(own)});
  }
  for (const train::Statistic& statistic : beginning.statistics) {
    ASSAY_ASSIGN_OR_RETURN(Tensor own, statistic.value.Clone());
    trainee.statistics.push_back(
        {statistic.name, statistic.next, std::move(own)});
  }
  trainee.masks = beginning.masks;
  trainee.seed = beginning.seed;
  return train::NetworkObjective::Load(backend, std::move(trainee));
}

}  // namespace assay::optdiff
