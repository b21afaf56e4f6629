// SPDX-License-Identifier: Apache-2.0
//
// SparseScheme: all-reduces the top-k of gradients as sparse vectors.
//
//   SparseScheme scheme(mine, std::move(optimizer), /*share=*/0.01);
//   ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());

#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/codec/rests.h"
#include "framework/ranks/scheme/codec/sparse_vector.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// Sums the vectors of all ranks, which have one size, to the same bits on
/// every rank. Source: SSAR_Recursive_double of C. Renggli et al., "SparCML:
/// high-performance sparse communication for machine learning", 2019.
///
/// The messages are those of recursive doubling, each as two: the length in 8
/// bytes, which a receiver cannot know, then the vector. In stage i, from 0, a
/// rank sends the sum of 2^i ranks: 8 k 2^i bytes where each rank has k pairs
/// and no two ranks have an index in common, 8 k where all have the same
/// indices, and never more than 4 bytes for each number of the vector. Data
/// loss for a message that is no vector of the size.
Result<SparseVector> SparseSum(SparseVector mine, Endpoint& endpoint);

/// Every rank sends the top-k of each gradient, as TopCodec, and keeps the
/// others for its next gradient (Rests). The sum is divided once: all take the
/// same step.
class SparseScheme : public OptimizerScheme {
 public:
  SparseScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               double share)
      : OptimizerScheme(endpoint, std::move(optimizer)), share_(share) {}
  Result<double> Step(train::Objective& objective) override;

  /// The residual of each gradient on this rank.
  std::span<const std::vector<float>> rests() const {
    return rests_.of_gradients();
  }

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient);

  const double share_;  // of the numbers, from 0 to 1
  Rests rests_;
};

}  // namespace assay::ranks
