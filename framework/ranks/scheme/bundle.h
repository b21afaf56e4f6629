// SPDX-License-Identifier: Apache-2.0
//
// Collectives over the tensors of a model, several in one buffer.

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
  /// Nothing: the library's own collectives.
  std::optional<Algorithm> algorithm = Algorithm::kRing;
  /// The most elements of a buffer, which holds one tensor at least.
  int64_t most = std::numeric_limits<int64_t>::max();
};

// All decline types other than float32 and float64 as unsupported. Tensors have
// the same types and shapes on all ranks.

/// Replaces each tensor by its mean over all ranks, in place: the sum by the
/// algorithm's tree, divided once.
Status MeanOfAll(std::span<Tensor> tensors, const Travel& travel,
                 Endpoint& endpoint);

/// The same at the root alone. On other ranks the tensors may change.
Status MeanAtRoot(std::span<Tensor> tensors, const Travel& travel, int root,
                  Endpoint& endpoint);

/// Replaces each tensor by the root's, in place.
Status FromRoot(std::span<Tensor> tensors, const Travel& travel, int root,
                Endpoint& endpoint);

/// Tensors copied into one buffer of equally long blocks, one for each rank,
/// padded by zeros.
class Blocks {
 public:
  /// Unsupported for tensors of several types.
  static Result<Blocks> Of(std::span<const Tensor> tensors,
                           const Endpoint& endpoint);

  /// A copy of the rank's own block.
  Result<Tensor> Own() const;
  void SetOwn(const Tensor& block);
  /// Replaces the rank's own block by its mean over all ranks (reduce-scatter);
  /// the others may change.
  Status Mean(const Travel& travel, Endpoint& endpoint);
  /// Replaces every block by that of its rank (all-gather).
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
