// SPDX-License-Identifier: Apache-2.0
//
// AdPsgdScheme: pairs of ranks average their parameters when one of the two
// asks. Ranks outside of the pair do not wait.
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

/// Draws the passive (even) rank that an active (odd) rank averages with in a
/// step: one of its two neighbours in the ring. `ranks` is even.
int PassiveOf(uint64_t seed, int rank, int ranks, int64_t step);

/// Source: X. Lian, W. Zhang, C. Zhang, J. Liu, "Asynchronous decentralized
/// parallel stochastic gradient descent", 2018, algorithm 1, on a ring of
/// active (odd) and passive (even) ranks.
///
/// A step has three parts. A gradient is taken at the rank's parameters. An
/// active rank sends these to a passive one and gets its parameters, and both
/// take the mean; a passive rank answers one request, while any are still to
/// come. The gradient is applied to the averaged parameters.
///
/// Only the order in which a passive rank serves requests is free. It changes
/// the gradients, not the averages, and how fast ranks come together: a rank
/// that is served first ends its steps first, and learns nothing of later ones.
///
/// An active rank sends its model once a step and gets one back, each with 16
/// bytes of header. At the end there are empty messages, one from each passive
/// rank and one to each rank but one.
///
/// Invalid argument for an odd number of ranks; data loss for a message of
/// another step than the draws give, or of parameters older than the rank has
/// seen.
class AdPsgdScheme : public OptimizerScheme {
 public:
  struct Options {
    int64_t steps = 0;  // of each rank: the number of its calls of Step
    uint64_t seed = 0;  // the same on all ranks
  };

  AdPsgdScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               Options options);
  Result<double> Step(train::Objective& objective) override;
  /// A passive rank answers the requests that are left. Returns when all ranks
  /// have, so that no later message is taken for a request.
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
  /// For an active rank: by passive rank, the oldest version that may come.
  std::map<int, int64_t> oldest_;
  /// For a passive rank: by active rank, the steps of requests still to come.
  std::map<int, std::deque<int64_t>> to_come_;
  int64_t answered_ = 0;
};

}  // namespace assay::ranks
