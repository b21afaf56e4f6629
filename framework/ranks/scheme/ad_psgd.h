// SPDX-License-Identifier: Apache-2.0
//
// AdPsgdScheme: pairs of ranks average their parameters whenever one of the two asks, and
// nobody waits for the others.
//
//   AdPsgdScheme scheme(mine, std::move(optimizer), {.steps = 100, .seed = 7});
//   for (int i = 0; i < 100; ++i) {
//     ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());
//   }
//   ASSAY_RETURN_IF_ERROR(scheme.Finish(objective));

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/model_message.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// The rank of even number that a rank of odd number averages with in a step: one of the
/// two beside it in the ring, drawn. `ranks` is even.
int PassiveOf(uint64_t seed, int rank, int ranks, int64_t step);

/// X. Lian, W. Zhang, C. Zhang, J. Liu, "Asynchronous decentralized parallel stochastic
/// gradient descent", 2018, algorithm 1, on a ring of active ranks, of odd number, and
/// passive ones, of even number. A gradient is taken at a rank's parameters; an active
/// rank then sends these to a passive one and gets its parameters, and the mean of both
/// becomes those of both; a passive rank answers one request, if any are still to come.
/// Then the gradient is applied, to parameters that were averaged after it was taken. Only
/// the order of requests at a passive rank is left open. The sum over ranks depends on it by
/// the gradients alone, since no average changes it; how near ranks come to each other does
/// so too: one that is served first is through with its steps, and learns nothing of those
/// behind it.
///
/// An active rank sends its model once in a step and gets one back, each behind 16 bytes.
/// At the end there are messages without bytes, one from each passive rank and one to each
/// rank but one.
///
/// Invalid argument for an odd number of ranks; data loss for a message of another step
/// than the draws say, or of parameters older than those that the rank has seen.
class AdPsgdScheme : public OptimizerScheme {
 public:
  struct Options {
    int64_t steps = 0;  // of each rank, which calls Step as often
    uint64_t seed = 0;  // the same on all ranks
  };

  AdPsgdScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               Options options);
  Result<double> Step(train::Objective& objective) override;
  /// A passive rank answers the requests that are left. Returns when all of them have, so
  /// that what ranks send next is not taken for a request.
  Status Finish(train::Objective& objective) override;

 private:
  bool is_active() const { return endpoint_.rank() % 2 == 1; }
  Status Average(std::span<Tensor> values);
  Status Ask(std::span<Tensor> values);
  Status Answer(std::span<Tensor> values);
  Status Meet();

  const Options options_;
  int64_t steps_ = 0;
  ModelMessage sent_, came_;
  /// Of an active rank: by passive rank, the oldest version that it may still get.
  std::map<int, int64_t> oldest_;
  /// Of a passive rank: by active rank, the steps whose requests are still to come.
  std::map<int, std::deque<int64_t>> to_come_;
  int64_t answered_ = 0;
};

}  // namespace assay::ranks
