// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous parameter server: rank 0 takes a step with each gradient as
// it comes and sends its parameters back. A worker that is too far ahead gets
// them once the others have followed.
//
//   if (mine.rank() == 0) {
//     return ServeGradients(mine, *optimizer, model, {.steps = 100});
//   }
//   WorkerScheme scheme(mine);
//   ASSAY_ASSIGN_OR_RETURN(const double loss, scheme.Step(objective));

#pragma once

#include <cstdint>
#include <limits>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/model_message.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

struct ServerOptions {
  int64_t steps = 0;  // of each worker
  /// A worker waits while it is more than `slack` steps ahead of the slowest
  /// one; at 0 all workers step in turn (Q. Ho et al., "More effective
  /// distributed ML via a stale synchronous parallel parameter server", 2013).
  int64_t slack = std::numeric_limits<int64_t>::max();
};

/// Maxima that the server has seen.
struct Staleness {
  int64_t updates = 0;    // steps between a gradient's parameters and its step
  int64_t clock_gap = 0;  // steps between the fastest and slowest worker
};

/// Runs the server until every worker has done its steps. `model` has the
/// parameters, and is not evaluated. Data loss for a message of another model
/// or step.
Result<Staleness> ServeGradients(Endpoint& endpoint,
                                 train::Optimizer& optimizer,
                                 train::Objective& model,
                                 const ServerOptions& options);

/// A worker: sends rank 0 a gradient at the parameters that it got last, and
/// gets newer ones back.
class WorkerScheme : public Scheme {
 public:
  explicit WorkerScheme(Endpoint& endpoint) : endpoint_(endpoint) {}
  Result<double> Step(train::Objective& objective) override;

 private:
  Endpoint& endpoint_;
  int64_t version_ = 0;  // of the parameters
  int64_t steps_ = 0;
  ModelMessage message_;
};

}  // namespace assay::ranks
