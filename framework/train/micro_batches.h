// SPDX-License-Identifier: Apache-2.0
//
// MicroBatches: a batch that is too large for the network's memory as one objective:
// its loss and gradients are the means over its parts, each weighted by its samples.
//
//   MicroBatches parts(network, /*most=*/16, put, seen);
//   parts.Take(batch);
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(parts));
//
// Gradients are summed in double and rounded once, so that a batch in parts differs
// from the whole by the roundings of the parts alone.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/data/sampler.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

class MicroBatches : public Objective {
 public:
  using Put = std::function<Status(const Batch& part)>;
  using Seen = std::function<Status(double loss)>;

  /// The network's loss is the mean over the samples. `put` puts a part into
  /// it, of `most` samples at most; `seen` is called while its outputs are
  /// those of the part.
  MicroBatches(NetworkObjective& network, int64_t most, Put put, Seen seen)
      : network_(network),
        most_(most),
        put_(std::move(put)),
        seen_(std::move(seen)) {}

  /// The batch of the next step.
  void Take(Batch batch) { batch_ = std::move(batch); }

  std::span<Parameter> parameters() override { return network_.parameters(); }
  Result<Evaluation> Evaluate() override;

 private:
  Status Add(double weight, std::span<const Tensor> gradients);
  /// The sums in gradients_.
  Status Round();

  NetworkObjective& network_;
  int64_t most_;
  Put put_;
  Seen seen_;
  Batch batch_;
  std::vector<std::vector<double>> sums_;  // of each gradient
  std::vector<Tensor> gradients_;
};

}  // namespace assay::train
