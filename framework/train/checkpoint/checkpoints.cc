// SPDX-License-Identifier: Apache-2.0

#include "framework/train/checkpoint/checkpoints.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/file/file.h"
#include "framework/train/optimizer/reserve.h"

namespace assay::train {
namespace {

/// Into memory of its own.
Status Copy(const Tensor& from, Tensor* to) {
  ASSAY_RETURN_IF_ERROR(Reserve(from, to));
  std::ranges::copy(from.bytes(), to->mutable_data());
  return OkStatus();
}

/// Null where there is no thread to be had.
std::unique_ptr<OtherThread> NewThread() {
  try {
    return std::make_unique<OtherThread>();
  } catch (const std::system_error&) {
    return nullptr;
  }
}

}  // namespace

Status Checkpoints::Written() {
  if (writer_ != nullptr) writer_->Wait();
  return std::exchange(written_, OkStatus());
}

Status Checkpoints::Keep(const TrainingMoment& moment) {
  kept_.standing = moment;
  const std::span<const Parameter> parameters = moment.objective.parameters();
  kept_.parameters.resize(parameters.size());
  for (size_t p = 0; p < parameters.size(); ++p) {
    kept_.parameters[p].name = parameters[p].name;
    ASSAY_RETURN_IF_ERROR(
        Copy(parameters[p].value, &kept_.parameters[p].value));
  }
  std::vector<StateTensor> state = moment.optimizer.State();
  if (options_.more) {
    std::ranges::move(options_.more(), std::back_inserter(state));
  }
  kept_.state.resize(state.size());
  for (size_t s = 0; s < state.size(); ++s) {
    kept_.state[s].parameter = std::move(state[s].parameter);
    kept_.state[s].name = std::move(state[s].name);
    ASSAY_RETURN_IF_ERROR(Copy(state[s].value, &kept_.state[s].value));
  }
  return OkStatus();
}

Status Checkpoints::Write() {
  ASSAY_ASSIGN_OR_RETURN(bytes_, CheckpointBytes(kept_, std::move(bytes_)));
  return file::WriteFile(options_.path, bytes_);
}

Status Checkpoints::Save(const TrainingMoment& moment) {
  if (options_.before) ASSAY_RETURN_IF_ERROR(options_.before());
  ASSAY_RETURN_IF_ERROR(Written());
  ASSAY_RETURN_IF_ERROR(Keep(moment));
  if (writer_ == nullptr) writer_ = NewThread();
  const auto write = [this] { written_ = Write(); };
  if (writer_ == nullptr) {
    write();
  } else {
    writer_->Start(write);
  }
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
  const bool is_writing = writer_ != nullptr && writer_->IsBusy();
  return is_writing ? OkStatus() : Written();
}

Status Checkpoints::AfterRun(const TrainingMoment& moment) {
  const Status saved = moment.has_failed ? OkStatus() : Save(moment);
  const Status written = Written();
  return saved.ok() ? written : saved;
}

}  // namespace assay::train
