// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a model on their way between ranks, several in one buffer.
//
//   ASSAY_RETURN_IF_ERROR(MeanOfAll(gradients, {Algorithm::kRing}, mine));

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"

namespace assay::ranks {

struct Travel {
  /// Nothing: by the library's own collectives.
  std::optional<Algorithm> algorithm = Algorithm::kRing;
  /// Elements of a buffer at most, and one tensor at least.
  int64_t most = std::numeric_limits<int64_t>::max();
};

// All are unsupported for types other than float32 and float64. Ranks have tensors of the
// same types and shapes.

/// Each tensor becomes the mean over all ranks, in place: the sum by the algorithm's
/// tree, divided once.
Status MeanOfAll(std::span<Tensor> tensors, const Travel& travel,
                 Endpoint& endpoint);

/// The same at the root alone, which the others send theirs to. Theirs may change.
Status MeanAtRoot(std::span<Tensor> tensors, const Travel& travel, int root,
                  Endpoint& endpoint);

/// Each tensor becomes the root's.
Status FromRoot(std::span<Tensor> tensors, const Travel& travel, int root,
                Endpoint& endpoint);

/// A copy of tensors in one buffer, of which each rank has a block, all equally long: zeros
/// stand behind the last tensor.
class Blocks {
 public:
  /// Unsupported for tensors of several types.
  static Result<Blocks> Of(std::span<const Tensor> tensors,
                           const Endpoint& endpoint);

  /// A copy of the rank's own block.
  Result<Tensor> Own() const;
  void SetOwn(const Tensor& block);
  /// The own block becomes the mean over all ranks; the others may change.
  Status Mean(const Travel& travel, Endpoint& endpoint);
  /// Every block becomes that of its rank.
  Status Gather(const Travel& travel, Endpoint& endpoint);
  void CopyTo(std::span<Tensor> tensors) const;

 private:
  Blocks(Tensor buffer, int rank, int64_t count)
      : buffer_(std::move(buffer)), rank_(rank), count_(count) {}

  Tensor buffer_;
  int rank_;
  int64_t count_;  // of a block
};

}  // namespace assay::ranks
