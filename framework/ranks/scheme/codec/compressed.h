// SPDX-License-Identifier: Apache-2.0
//
// Schemes that send gradients in fewer bytes: CompressedScheme all-reduces what
// a codec encodes, and SparseScheme the top-k as sparse vectors.

#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"
#include "framework/ranks/scheme/codec/codec.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// The base of schemes with error feedback: a rank adds to its next gradients
/// what it has not sent of those before. Source: S. Stich, J. Cordonnier, M.
/// Jaggi, "Sparsified SGD with memory", 2018.
class FeedbackScheme : public OptimizerScheme {
 public:
  using OptimizerScheme::OptimizerScheme;
  /// Unsupported for gradients of a type other than float32.
  Result<double> Step(train::Objective& objective) override;

  /// The residual of each gradient on this rank.
  std::span<const std::vector<float>> rests() const { return rests_; }

 private:
  /// Called for each gradient in turn: `rest` has all that should be sent, and
  /// keeps what was not; `gradient` becomes the mean of what all ranks send.
  /// Both have the gradient's elements.
  virtual Status Exchange(std::span<float> rest, std::span<float> gradient) = 0;
  Status SendOne(std::vector<float>* rest, Tensor* gradient);

  std::vector<std::vector<float>> rests_;
};

/// Every rank all-gathers the encoded tensors, sums them in double in the order
/// of the ranks, divides once and rounds once: all take the same step. The
/// error of a rank's encoding is added to its next gradient, or dropped.
class CompressedScheme : public FeedbackScheme {
 public:
  struct Options {
    Algorithm algorithm = Algorithm::kRing;  // of the all-gather
    bool keeps_rest = true;
  };

  CompressedScheme(Endpoint& endpoint,
                   std::unique_ptr<train::Optimizer> optimizer,
                   std::unique_ptr<Codec> codec, Options options)
      : FeedbackScheme(endpoint, std::move(optimizer)),
        codec_(std::move(codec)),
        options_(options) {}

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient) override;

  std::unique_ptr<Codec> codec_;
  const Options options_;
};

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
/// others for its next gradient. The sum is divided once: all take the
/// same step.
class SparseScheme : public FeedbackScheme {
 public:
  SparseScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               double share)
      : FeedbackScheme(endpoint, std::move(optimizer)), share_(share) {}

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient) override;

  const double share_;  // of the numbers, from 0 to 1
};

}  // namespace assay::ranks
