// SPDX-License-Identifier: Apache-2.0
//
// SharedObjective: a rank's share of a batch as the objective of a scheme.
//
//   SharedObjective shared(network, put);
//   shared.Take(ShareOf(batch, mine.rank(), mine.size()));
//   ASSAY_ASSIGN_OR_RETURN(const double loss, scheme.Step(shared));

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/share/share.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

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
