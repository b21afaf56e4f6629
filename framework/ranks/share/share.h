// SPDX-License-Identifier: Apache-2.0
//
// Share: the samples that one rank has of a batch of all ranks, and
// SharedObjective, which takes a step of a scheme on them.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

struct Share {
  std::vector<int64_t> samples;
  /// The factor of a mean over these samples in a mean over ranks: ranks *
  /// samples here / samples of the batch.
  double weight = 0;
};

/// Cuts `batch` into contiguous pieces in the order of ranks, whose sizes
/// differ by one sample at most. An empty batch has empty shares.
Share ShareOf(std::span<const int64_t> batch, int rank, int ranks);

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
