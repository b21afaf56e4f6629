// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/executor.h"

#include <utility>

namespace assay::inline v1 {

Status Event::BeforeRun(const Moment&) { return OkStatus(); }
Status Event::BeforeForward(const Moment&) { return OkStatus(); }
Status Event::AfterForward(const Moment&) { return OkStatus(); }
Status Event::BeforeBackward(const Moment&) { return OkStatus(); }
Status Event::AfterBackward(const Moment&, std::span<const Value>) {
  return OkStatus();
}
Status Event::AfterRun(const Moment&) { return OkStatus(); }

void Executor::Add(Event* event) { events_.push_back(event); }

Status Executor::Start(const Moment& moment, size_t& started) {
  for (; started < events_.size(); ++started) {
    ASSAY_RETURN_IF_ERROR(events_[started]->BeforeRun(moment));
  }
  return OkStatus();
}

/// Tells those that were started, and returns the first failure of all.
Status Executor::Finish(const Moment& moment, size_t started, Status so_far) {
  while (started > 0) {
    Status status = events_[--started]->AfterRun(moment);
    if (so_far.ok()) so_far = std::move(status);
  }
  return so_far;
}

Status Executor::Forward(const Moment& moment) {
  for (Event* event : events_) {
    ASSAY_RETURN_IF_ERROR(event->BeforeForward(moment));
  }
  ASSAY_RETURN_IF_ERROR(network_.Forward(moment.binding));
  ASSAY_RETURN_IF_ERROR(network_.Synchronize());
  for (size_t i = events_.size(); i-- > 0;) {
    Event* const event = events_[i];
    ASSAY_RETURN_IF_ERROR(event->AfterForward(moment));
  }
  return OkStatus();
}

bool Executor::StopRequested() const {
  for (const Event* event : events_) {
    if (event->StopRequested()) return true;
  }
  return false;
}

Status Executor::Run(Binding& binding, int64_t iterations) {
  if (iterations < 0) {
    return InvalidArgument("found ", iterations, " iterations, wanted >= 0");
  }
  Moment moment{0, network_, binding};
  size_t started = 0;
  Status status = Start(moment, started);
  while (status.ok() && moment.iteration < iterations) {
    status = Forward(moment);
    if (status.ok()) ++moment.iteration;
    if (StopRequested()) break;
  }
  return Finish(moment, started, std::move(status));
}

Result<std::vector<Value>> Executor::RunBackward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets) {
  Differentiable* const differentiable = network_.differentiable();
  if (differentiable == nullptr) {
    return Unsupported(Reason::kGradient,
                       "the network was not loaded for gradients");
  }
  Moment moment{0, network_, binding};
  size_t started = 0;
  std::vector<Value> gradients;
  const auto run = [&]() -> Status {
    ASSAY_RETURN_IF_ERROR(Start(moment, started));
    ASSAY_RETURN_IF_ERROR(Forward(moment));
    for (Event* event : events_) {
      ASSAY_RETURN_IF_ERROR(event->BeforeBackward(moment));
    }
    ASSAY_ASSIGN_OR_RETURN(
        gradients, differentiable->Backward(binding, cotangents, targets));
    ASSAY_RETURN_IF_ERROR(network_.Synchronize());
    for (size_t i = events_.size(); i-- > 0;) {
      Event* const event = events_[i];
      ASSAY_RETURN_IF_ERROR(event->AfterBackward(moment, gradients));
    }
    ++moment.iteration;
    return OkStatus();
  };
  Status status = run();
  ASSAY_RETURN_IF_ERROR(Finish(moment, started, std::move(status)));
  return gradients;
}

}  // namespace assay::inline v1
