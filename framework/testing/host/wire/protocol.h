// SPDX-License-Identifier: Apache-2.0
//
// The calls between the process of a suite and the host of a backend. A request
// is a head (link.cc writes it, server.cc reads it), then what the call takes;
// an answer begins with the Status of the call.
//
// Networks, bindings and bound gradients have numbers that the suite's side
// gives; a number that is closed is told with the next request.

#pragma once

#include <cstdint>

namespace assay::wire {

enum class Call : uint64_t {
  kInspect,
  kLoad,
  kBind,
  kBindAndRun,
  kForward,
  kForwardMany,
  kForwardEach,
  kSynchronize,
  kBackward,
  kBackwardEach,
  kBindBackward,
  kRunBackward,
  kListParameters,
  kReadParameter,
  kWriteParameter,
  kOptimizers,
  kConfigure,
  kStep,
  kDrawFrom,
  kTimeRuns,
  kTimeLives,
  kThread,   // another thread calls; brings its channel
  kCaseEnd,  // what the case left behind
};

/// The phase of a backend that a call is, for a person.
constexpr const char* PhaseOf(Call call) {
  switch (call) {
    case Call::kInspect:
      return "inspect";
    case Call::kLoad:
      return "load";
    case Call::kBind:
      return "bind";
    case Call::kBindAndRun:
      return "bind or forward";
    case Call::kForward:
    case Call::kSynchronize:
      return "forward";
    case Call::kForwardMany:
    case Call::kForwardEach:
      return "forward, run again";
    case Call::kTimeRuns:
    case Call::kTimeLives:
      return "a run that is timed";
    case Call::kBackward:
    case Call::kBackwardEach:
    case Call::kBindBackward:
    case Call::kRunBackward:
      return "backward";
    case Call::kConfigure:
    case Call::kOptimizers:
    case Call::kStep:
      return "a step of its optimizer";
    case Call::kListParameters:
    case Call::kReadParameter:
    case Call::kWriteParameter:
      return "its parameters";
    case Call::kDrawFrom:
      return "a new seed";
    case Call::kThread:
    case Call::kCaseEnd:
      break;
  }
  return "the end of the case";
}

/// The kind of object that a number stands for.
enum class Kind : uint64_t { kNetwork, kBinding, kGradients };

/// The optional interfaces that a network offers, as bits.
enum Offered : uint64_t {
  kDifferentiable = 1,
  kParameters = 2,
  kNativeStep = 4,
  kPlacement = 8,
  kExact = 16,
  kDraws = 32,
};

/// How an output or a gradient comes back.
enum class Came : uint64_t {
  kInPlace,  // in the memory that was given for it
  kValue,    // a value follows, whose tensors are issued
  kAlias,    // a value follows, in memory of the caller's
};

}  // namespace assay::wire
