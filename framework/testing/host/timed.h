// SPDX-License-Identifier: Apache-2.0
//
// TimeRuns, TimeLives: times of a network's calls, taken beside the code that
// runs them, so that no message between two processes is in them.
//
//   ASSAY_ASSIGN_OR_RETURN(const Timed timed,
//                          TimeRuns(*network, *binding, {.samples = 20,
//                                                        .calls = 100}));
//   const auto first = timed.samples[0];   // of 100 calls
//
// The host counts; a caller who does not believe it holds its own clock beside.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/host/counts/counts.h"
#include "framework/testing/host/runs.h"

namespace assay::host {

/// Calls of a binding that are timed.
struct TimedAsk {
  int64_t samples = 1;
  int64_t calls = 1;  // of each sample, one behind the other
  /// Null: a call is Forward and Synchronize. Else it is RunBackward of these
  /// and Synchronize, behind one Forward that does not count.
  GradientBinding* gradients = nullptr;
  /// Bytes that are written before each sample, so that no cache holds what
  /// the network reads.
  int64_t flushed = 0;
  /// Sample i runs on the i-th of these, and from the first again; not filled
  /// where there is none.
  Refill inputs = {};
  /// Memory in which all bits are set before each sample: that of the outputs,
  /// so that what is read there was written by a call of the sample.
  std::span<const Value> cleared = {};
  /// The sample whose last outputs, or gradients, are given; none below zero.
  int64_t watched = -1;
  /// Counts what the calls of the last sample take beside time. Counting makes
  /// them slower.
  bool counted = false;
};

struct Timed {
  std::vector<std::chrono::nanoseconds> samples;
  counts::Counts counts;       // where they were asked for
  std::vector<Value> watched;  // copies
};

/// Invalid argument, before the first sample, for values that do not fit.
/// Exceptions become a status.
Result<Timed> TimeRuns(Network& network, Binding& binding, const TimedAsk& ask);

/// The phases of a network from Load to its end.
struct Life {
  std::chrono::nanoseconds load{0};
  std::chrono::nanoseconds create{0};   // Bind
  std::chrono::nanoseconds first{0};    // Forward and Synchronize
  std::chrono::nanoseconds destroy{0};  // of the binding and the network
};

/// A network as it is loaded.
struct LoadedAs {
  Backend& backend;
  std::shared_ptr<const Model> model;
  LoadOptions options;
};

/// Lives of the network that was loaded so: it is loaded again, bound to these
/// inputs, run once and destroyed, `count` times.
Result<std::vector<Life>> TimeLives(const LoadedAs& as, Network& loaded,
                                    std::span<const Value> inputs,
                                    int64_t count);

/// A network of another process, which times there.
class TimedThere {
 public:
  virtual ~TimedThere() = default;
  virtual Result<Timed> TimeRuns(Binding& binding, const TimedAsk& ask) = 0;
  virtual Result<std::vector<Life>> TimeLives(std::span<const Value> inputs,
                                              int64_t count) = 0;
};

}  // namespace assay::host
