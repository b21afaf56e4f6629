// SPDX-License-Identifier: Apache-2.0
//
// Executor: runs a bound network and tells its events when. It owns
// synchronisation and stop requests and knows no backend.
//
//   Executor executor(*network);
//   executor.Add(&stop);                 // an Event of the caller's
//   ASSAY_RETURN_IF_ERROR(executor.Run(*binding, /*iterations=*/10));
//
// Events run in the order of addition before, and in reverse order after.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"

namespace assay::inline v1 {

/// Where in a run an event is fired.
struct Moment {
  int64_t iteration = 0;  // from 0; at the end, how many were done
  Network& network;
  Binding& binding;
};

/// Something that watches a run. Every member does nothing by default. A
/// failed Status ends the run and is returned by it; AfterRun is called even
/// then, for each event whose BeforeRun succeeded.
class Event {
 public:
  virtual ~Event() = default;

  virtual Status BeforeRun(const Moment& moment);
  virtual Status BeforeForward(const Moment& moment);
  /// After Synchronize, so that results may be read and times are whole.
  virtual Status AfterForward(const Moment& moment);
  virtual Status BeforeBackward(const Moment& moment);
  virtual Status AfterBackward(const Moment& moment,
                               std::span<const Value> gradients);
  virtual Status AfterRun(const Moment& moment);
  /// Asked after every iteration; true ends the run without error.
  virtual bool StopRequested() const { return false; }
};

class Executor {
 public:
  explicit Executor(Network& network) : network_(network) {}

  /// The event must outlive the executor.
  void Add(Event* event);

  /// Forward and Synchronize, `iterations` >= 0 times or until a stop is asked
  /// for.
  Status Run(Binding& binding, int64_t iterations = 1);

  /// One Forward, then Backward. `unsupported`, reason gradient, when the
  /// network is not Differentiable.
  Result<std::vector<Value>> RunBackward(Binding& binding,
                                         std::span<const Value> cotangents,
                                         std::span<const std::string> targets);

 private:
  Status Start(const Moment& moment, size_t& started);
  Status Finish(const Moment& moment, size_t started, Status so_far);
  Status Forward(const Moment& moment);
  bool StopRequested() const;

  Network& network_;
  std::vector<Event*> events_;
};

}  // namespace assay::inline v1
