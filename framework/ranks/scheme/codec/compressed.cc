// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/compressed.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "framework/core/tensor.h"

namespace assay::ranks {

/// Replaces the gradient by the mean of what all ranks send.
Status CompressedScheme::Exchange(std::span<float> rest,
                                  std::span<float> gradient) {
  const int64_t bytes = codec_->BytesOf(std::ssize(rest));
  ASSAY_ASSIGN_OR_RETURN(
      Tensor blocks,
      Tensor::Allocate(DType::kUint8, {bytes * endpoint_.size()}));
  const auto block = [&](int rank) {
    return std::span(blocks.mutable_data() + bytes * rank,
                     static_cast<size_t>(bytes));
  };
  codec_->Encode(rest, block(endpoint_.rank()));
  ASSAY_RETURN_IF_ERROR(RunCollective({.operation = Operation::kAllGather,
                                       .algorithm = options_.algorithm,
                                       .ranks = endpoint_.size(),
                                       .count = bytes},
                                      Reduction::kSum, endpoint_, &blocks));
  std::vector<double> sum(rest.size());
  std::vector<float> sent(rest.size());
  for (int rank = 0; rank < endpoint_.size(); ++rank) {
    ASSAY_RETURN_IF_ERROR(codec_->Decode(block(rank), sent));
    std::ranges::transform(sum, sent, sum.begin(), std::plus<double>());
    if (rank != endpoint_.rank()) continue;
    std::ranges::transform(rest, sent, rest.begin(), std::minus());
    if (!options_.keeps_rest) std::ranges::fill(rest, 0.0F);
  }
  std::ranges::transform(sum, gradient.begin(), [&](double each) {
    return static_cast<float>(each / endpoint_.size());
  });
  return OkStatus();
}

Result<double> CompressedScheme::Step(train::Objective& objective) {
  return rests_.Step(objective, *optimizer_,
                     [&](std::span<float> rest, std::span<float> gradient) {
                       return Exchange(rest, gradient);
                     });
}

}  // namespace assay::ranks
