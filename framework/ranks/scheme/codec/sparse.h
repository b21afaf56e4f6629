// SPDX-License-Identifier: Apache-2.0
//
// SparseScheme: ranks that add up the greatest numbers of their gradients, and send no
// others.
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

/// The sum of all ranks' vectors, which are of one size, with the same bits on every rank:
/// SSAR_Recursive_double (C. Renggli et al., "SparCML: high-performance sparse
/// communication for machine learning", 2019), with the messages of recursive doubling.
/// A receiver does not know how many pairs come: a message is two, the length of a vector,
/// 8 bytes, and then the vector. In stage i, from 0, a rank sends the sum of 2^i ranks:
/// 8 k 2^i bytes where each rank has k pairs and no two have a place in common, 8 k where
/// all have the same places, and never more than 4 for each number. Data loss for a
/// message that no vector of the size is.
Result<SparseVector> SparseSum(SparseVector mine, Endpoint& endpoint);

/// Every rank sends the greatest numbers of each gradient, as TopCodec, and keeps the others
/// for the next one (Rests). The sum is divided once: all take the same step.
class SparseScheme : public OptimizerScheme {
 public:
  SparseScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               double share)
      : OptimizerScheme(endpoint, std::move(optimizer)), share_(share) {}
  Result<double> Step(train::Objective& objective) override;

  /// What this rank has not sent yet, of each gradient.
  std::span<const std::vector<float>> rests() const {
    return rests_.of_gradients();
  }

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient);

  const double share_;  // of the numbers, from 0 to 1
  Rests rests_;
};

}  // namespace assay::ranks
