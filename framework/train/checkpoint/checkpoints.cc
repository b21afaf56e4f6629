// SPDX-License-Identifier: Apache-2.0

#include "framework/train/checkpoint/checkpoints.h"

#include <span>

namespace assay::train {

Status Checkpoints::Save(const TrainingMoment& moment) const {
  if (options_.before) ASSAY_RETURN_IF_ERROR(options_.before());
  Checkpoint checkpoint{
      moment, {}, moment.optimizer.State(), options_.identity};
  const std::span<const Parameter> parameters = moment.objective.parameters();
  checkpoint.parameters.assign(parameters.begin(), parameters.end());
  if (options_.more) {
    const std::vector<StateTensor> more = options_.more();
    checkpoint.state.insert(checkpoint.state.end(), more.begin(), more.end());
  }
  return SaveCheckpoint(options_.path, checkpoint);
}

Status Checkpoints::BeforeRun(const TrainingMoment& moment) {
  if (!moment.optimizer.State().empty()) return OkStatus();
  return moment.optimizer.Begin(moment.objective.parameters());
}

Status Checkpoints::BeforeEpoch(const TrainingMoment& moment) {
  const bool is_due = options_.every == 0 || moment.steps == 0;
  return is_due && moment.batches == 0 ? Save(moment) : OkStatus();
}

Status Checkpoints::AfterStep(const TrainingMoment& moment) {
  const bool is_due = options_.every > 0 && moment.steps % options_.every == 0;
  return is_due ? Save(moment) : OkStatus();
}

Status Checkpoints::AfterRun(const TrainingMoment& moment) {
  return moment.has_failed ? OkStatus() : Save(moment);
}

}  // namespace assay::train
