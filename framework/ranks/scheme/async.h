// SPDX-License-Identifier: Apache-2.0
//
// Schemes that take messages as they come: an asynchronous parameter server,
// and AdPsgdScheme, whose ranks average their parameters in pairs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// All tensors of a model in one message, after a header with their version and
/// step.
class ModelMessage {
 public:
  struct Header {
    int64_t version = 0;  // averages or updates that the parameters have seen
    int64_t clock = 0;    // steps that the asking rank has done
  };

  friend constexpr void EachField(Header& header, const auto& visit) {
    VisitEach(visit, header.version, header.clock);
  }

  /// Writes the header, then the bytes of the tensors in their order.
  void Write(const Header& header, std::span<const Tensor> tensors);
  /// Makes room to receive a message of tensors of these sizes.
  std::span<std::byte> RoomFor(std::span<const Tensor> tensors);

  std::span<const std::byte> bytes() const { return bytes_; }
  Header header() const;
  /// Copies the tensors out, whose sizes are those that were written.
  void ReadInto(std::span<Tensor> tensors) const;

 private:
  std::vector<std::byte> bytes_;
};

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
