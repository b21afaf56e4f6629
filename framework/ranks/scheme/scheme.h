// SPDX-License-Identifier: Apache-2.0
//
// Scheme: distributed training of one model around any optimizer. Each rank has
// a scheme, and its own batches.
//
//   AllReduceScheme scheme(mine, std::move(optimizer), {Algorithm::kRing});
//   ASSAY_ASSIGN_OR_RETURN(const double loss, scheme.Step(objective));
//
// Ranks begin with the same parameters and optimizers. A step is on as many
// samples on each rank, so that a mean over ranks is a mean over samples.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"
#include "framework/ranks/scheme/mixing.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

class Scheme {
 public:
  virtual ~Scheme() = default;
  /// Takes a step, which all ranks take together, and returns the loss of the
  /// rank's own batch.
  virtual Result<double> Step(train::Objective& objective) = 0;
  /// Called after the last step: brings the parameters to all ranks where some
  /// lag.
  virtual Status Finish(train::Objective&) { return OkStatus(); }
};

/// The base of schemes around an optimizer of each rank. The endpoint must
/// outlive them.
class OptimizerScheme : public Scheme {
 protected:
  OptimizerScheme(Endpoint& endpoint,
                  std::unique_ptr<train::Optimizer> optimizer)
      : endpoint_(endpoint), optimizer_(std::move(optimizer)) {}

  Endpoint& endpoint_;
  const std::unique_ptr<train::Optimizer> optimizer_;
};

/// The base of schemes whose tensors travel by collectives.
class CollectiveScheme : public OptimizerScheme {
 public:
  CollectiveScheme(Endpoint& endpoint,
                   std::unique_ptr<train::Optimizer> optimizer, Travel travel)
      : OptimizerScheme(endpoint, std::move(optimizer)), travel_(travel) {}

 protected:
  const Travel travel_;
};

/// All-reduces gradients, and every rank takes the same step: consistent
/// decentralized.
class AllReduceScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
};

/// Gradient accumulation around another scheme, which gets the mean gradient of
/// several batches, summed in double and rounded once.
class AccumulatingScheme : public Scheme {
 public:
  AccumulatingScheme(std::unique_ptr<Scheme> inner, int64_t batches)
      : inner_(std::move(inner)), batches_(batches) {}
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override {
    return inner_->Finish(objective);
  }

 private:
  const std::unique_ptr<Scheme> inner_;
  const int64_t batches_;
};

/// A consistent parameter server: rank 0 has the optimizer and its state. It
/// sends the parameters before gradients are taken, and gets the mean of these.
/// It is a worker, too.
class ServerScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

/// Local SGD: each rank takes steps of its own, and after every `period`th the
/// parameters are averaged, but not the optimizers' states (J. Wang, G. Joshi,
/// "Cooperative SGD", 2018).
class AverageScheme : public CollectiveScheme {
 public:
  AverageScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
                Travel travel, int64_t period)
      : CollectiveScheme(endpoint, std::move(optimizer), travel),
        period_(period) {}
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;

 private:
  const int64_t period_;
  int64_t steps_ = 0;
};

/// D-PSGD: takes a gradient at the rank's parameters, mixes these with those of
/// its peers, and steps from there (X. Lian et al., "Can decentralized
/// algorithms outperform centralized algorithms?", 2017, algorithm 1).
class GossipScheme : public OptimizerScheme {
 public:
  GossipScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               Graph graph)
      : OptimizerScheme(endpoint, std::move(optimizer)), graph_(graph) {}
  Result<double> Step(train::Objective& objective) override;

 private:
  const Graph graph_;
  int64_t steps_ = 0;
};

}  // namespace assay::ranks
