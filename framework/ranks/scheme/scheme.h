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
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"
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

/// The owner of each parameter, the one rank that steps it and keeps its state:
/// in order of size, the largest first, each goes to the first rank with the
/// fewest elements so far.
std::vector<int> OwnersOf(std::span<const train::Parameter> parameters,
                          int ranks);

/// Reduces gradients to the owners of their parameters, which broadcast these
/// before the next gradient is taken: a parameter server on all ranks, or the
/// first stage of ZeRO with whole parameters (S. Rajbhandari et al., "ZeRO:
/// memory optimizations toward training trillion parameter models", 2020). An
/// optimizer that combines all parameters, as AcceleGrad and clipping by the
/// global norm do, sees the rank's own alone.
class ShardedScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

/// Reduce-scatters gradients: each rank gets the mean of its block of all
/// elements, of the tensors concatenated, and steps it; blocks are all-gathered
/// before the next gradient is taken (ZeRO's first stage as in the paper). The
/// optimizer sees one parameter, the block: one that combines the elements of a
/// tensor, as LAMB does, or all parameters, takes another step than alone.
/// Parameters are of one type.
class ScatteredScheme : public CollectiveScheme {
 public:
  using CollectiveScheme::CollectiveScheme;
  Result<double> Step(train::Objective& objective) override;
  Status Finish(train::Objective& objective) override;
};

/// Sources: X. Lian et al., "Can decentralized algorithms outperform
/// centralized algorithms?", 2017, for the ring; M. Assran et al., "Stochastic
/// gradient push for distributed deep learning", 2019, for the exponential
/// graphs.
enum class Graph : uint8_t {
  kRing,                // ranks at distance 1; one that is both counts once
  kComplete,            // all others
  kExponential,         // ranks at distance 1, 2, 4 ...
  kOnePeerExponential,  // one of those, the next in each step
  kTorus,               // the four at distance 1 in a periodic grid (RowsOf)
};

std::string_view ToString(Graph graph);

/// The rows of a torus' grid, which has the ranks row by row: the greatest
/// divisor of `ranks` <= sqrt(ranks). 1 for every other graph.
int RowsOf(Graph graph, int ranks);

/// One exchange: a rank sends its parameters to `to`, and gets those of `from`.
struct Peer {
  int to, from;
  double weight;  // of the parameters of `from`
};

/// The peers of a rank in a step; none for one rank. The rank's own parameters
/// have the weight 1 - the sum of the weights here. The mixing matrix is doubly
/// stochastic: weights that a rank gives and those that it takes sum up to 1.
std::vector<Peer> PeersOf(Graph graph, int rank, int ranks, int64_t step);

/// A wave with whole periods along the rows and the columns of the grid of
/// ranks.
struct Wave {
  int along_rows, along_columns;
};
double AngleOf(Wave wave, Graph graph, int rank, int ranks);
/// The magnitude of the wave's eigenvalue of the graph's mixing matrix in the
/// first step, which is circulant.
double FactorOf(Wave wave, Graph graph, int ranks);

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

enum class Directed : uint8_t {
  kOnePeer,  // distance 1, 2, 4 ..., the next in each step
  kUneven,   // distance 1, and 2 from even ranks as well
};

/// The distances ahead of the ranks that a rank sends to. It keeps as large a
/// part as each of them gets.
std::vector<int> HopsOf(Directed graph, int rank, int ranks, int64_t step);

/// Stochastic gradient push. Source: M. Assran et al., "Stochastic gradient
/// push for distributed deep learning", 2019, algorithm 1.
///
/// A rank sends parts of its numbers and of its weight; the sums of both over
/// all ranks are invariant. The parameters are numbers / weight, so that all go
/// to the mean also where some ranks get more than they send. Numbers and
/// weight are float64, in one message.
class PushSumScheme : public OptimizerScheme {
 public:
  PushSumScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
                Directed graph)
      : OptimizerScheme(endpoint, std::move(optimizer)), graph_(graph) {}
  Result<double> Step(train::Objective& objective) override;

  double weight() const { return mass_.empty() ? 1 : mass_.back(); }

 private:
  Status Push();

  const Directed graph_;
  int64_t steps_ = 0;
  std::vector<double> mass_;  // numbers of all parameters, then the weight
};

/// A rank's objective with communication around each evaluation, as the schemes
/// give it to an optimizer.
class Between : public train::Objective {
 public:
  using Before = std::function<Status()>;
  using Behind = std::function<Status(std::span<Tensor> gradients)>;

  /// `before` runs before each evaluation, if it is given, and `behind` after
  /// it on its gradients, in place. `inner` must outlive this.
  Between(train::Objective& inner, Before before, Behind behind)
      : inner_(inner), before_(std::move(before)), behind_(std::move(behind)) {}

  std::span<train::Parameter> parameters() override {
    return inner_.parameters();
  }
  Result<train::Evaluation> Evaluate() override {
    if (before_) ASSAY_RETURN_IF_ERROR(before_());
    ASSAY_ASSIGN_OR_RETURN(const train::Evaluation evaluation,
                           inner_.Evaluate());
    ASSAY_RETURN_IF_ERROR(behind_(evaluation.gradients));
    return evaluation;
  }

 private:
  train::Objective& inner_;
  Before before_;
  Behind behind_;
};

/// The parameters' tensors, which share their memory.
inline std::vector<Tensor> ValuesOf(train::Objective& objective) {
  std::vector<Tensor> values;
  for (const train::Parameter& each : objective.parameters()) {
    values.push_back(each.value);
  }
  return values;
}

/// The samples that one rank has of a batch of all ranks.
struct Share {
  std::vector<int64_t> samples;
  /// The factor of a mean over these samples in a mean over ranks: ranks *
  /// samples here / samples of the batch.
  double weight = 0;
};

/// Cuts `batch` into contiguous pieces in the order of ranks, whose sizes
/// differ by one sample at most. An empty batch has empty shares.
Share ShareOf(std::span<const int64_t> batch, int rank, int ranks);

/// A rank's objective on its share: what a step of a scheme takes.
class SharedObjective : public train::Objective {
 public:
  using Put = std::function<Status(std::span<const int64_t> samples)>;

  /// `put` makes samples the next batch of `inner`, whose loss and gradients,
  /// of float32 or float64, are means over that batch. `inner` must outlive
  /// this.
  SharedObjective(train::Objective& inner, Put put)
      : inner_(inner), put_(std::move(put)) {}

  /// The share that the next step is on.
  void Take(Share share) { share_ = std::move(share); }

  std::span<train::Parameter> parameters() override {
    return inner_.parameters();
  }
  /// Loss and gradients of `inner`, times the share's weight; zero for a share
  /// without samples.
  Result<train::Evaluation> Evaluate() override;

 private:
  Status Weigh(std::span<const Tensor> gradients);
  Status Zero();

  train::Objective& inner_;
  const Put put_;
  Share share_;
  std::vector<Tensor> gradients_;
};

}  // namespace assay::ranks
