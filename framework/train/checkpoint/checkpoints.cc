// SPDX-License-Identifier: Apache-2.0

#include "framework/train/checkpoint/checkpoints.h"

#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "framework/file/file.h"

namespace assay::train {

Status Checkpoints::Written() {
  return writing_.valid() ? writing_.get() : OkStatus();
}

Status Checkpoints::Save(const TrainingMoment& moment) {
  if (options_.before) ASSAY_RETURN_IF_ERROR(options_.before());
  Checkpoint checkpoint{
      moment, {}, moment.optimizer.State(), options_.identity};
  const std::span<const Parameter> parameters = moment.objective.parameters();
  checkpoint.parameters.assign(parameters.begin(), parameters.end());
  if (options_.more) {
    const std::vector<StateTensor> more = options_.more();
    checkpoint.state.insert(checkpoint.state.end(), more.begin(), more.end());
  }
  ASSAY_RETURN_IF_ERROR(Written());
  ASSAY_ASSIGN_OR_RETURN(bytes_,
                         CheckpointBytes(checkpoint, std::move(bytes_)));
  // Deferred where no thread is to be had: it is written behind the next step.
  writing_ = std::async(std::launch::async | std::launch::deferred, [this] {
    return file::WriteFile(options_.path, bytes_);
  });
  return OkStatus();
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
  if (is_due) return Save(moment);
  const bool is_over =
      writing_.valid() &&
      writing_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
  return is_over ? Written() : OkStatus();
}

Status Checkpoints::AfterRun(const TrainingMoment& moment) {
  const Status saved = moment.has_failed ? OkStatus() : Save(moment);
  const Status written = Written();
  return saved.ok() ? written : saved;
}

}  // namespace assay::train
