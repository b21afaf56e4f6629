// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/scheme/compressed.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "framework/dist/scheme/between.h"

namespace assay::dist {

/// The gradient becomes the mean of what all ranks send.
Status CompressedScheme::Exchange(std::vector<float>* rest, Tensor* gradient) {
  if (gradient->dtype() != DType::kFloat32) {
    return Unsupported(Reason::kDType, "found a gradient of type ",
                       ToString(gradient->dtype()), ", wanted float32");
  }
  const auto numbers = gradient->mutable_elements<float>();
  rest->resize(numbers.size());
  std::ranges::transform(*rest, numbers, rest->begin(), std::plus());
  const int64_t bytes = codec_->BytesOf(std::ssize(numbers));
  ASSAY_ASSIGN_OR_RETURN(
      Tensor blocks,
      Tensor::Allocate(DType::kUint8, {bytes * endpoint_.size()}));
  const auto block = [&](int rank) {
    return std::span(blocks.mutable_data() + bytes * rank,
                     static_cast<size_t>(bytes));
  };
  codec_->Encode(*rest, block(endpoint_.rank()));
  ASSAY_RETURN_IF_ERROR(RunCollective({.operation = Operation::kAllGather,
                                       .algorithm = options_.algorithm,
                                       .ranks = endpoint_.size(),
                                       .count = bytes},
                                      Reduction::kSum, endpoint_, &blocks));
  std::vector<double> sum(numbers.size());
  std::vector<float> sent(numbers.size());
  for (int rank = 0; rank < endpoint_.size(); ++rank) {
    ASSAY_RETURN_IF_ERROR(codec_->Decode(block(rank), sent));
    std::ranges::transform(sum, sent, sum.begin(), std::plus<double>());
    if (rank != endpoint_.rank()) continue;
    std::ranges::transform(*rest, sent, rest->begin(), std::minus());
    if (!options_.keeps_rest) std::ranges::fill(*rest, 0.0F);
  }
  std::ranges::transform(sum, numbers.begin(), [&](double each) {
    return static_cast<float>(each / endpoint_.size());
  });
  return OkStatus();
}

Result<double> CompressedScheme::Step(train::Objective& objective) {
  Between together(objective, {}, [&](std::span<Tensor> gradients) {
    rests_.resize(gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(Exchange(&rests_[i], &gradients[i]));
    }
    return OkStatus();
  });
  return optimizer_->Step(together);
}

}  // namespace assay::dist
