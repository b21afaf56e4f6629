// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/compressed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "framework/core/tensor.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {
namespace {

Status ExchangeIn(const Step& step, std::span<const std::byte> out,
                  std::span<std::byte> in, Endpoint& endpoint) {
  return endpoint.Exchange(
      step.to, step.to == kNobody ? std::span<const std::byte>() : out,
      step.from, step.from == kNobody ? std::span<std::byte>() : in);
}

/// Sends `mine`, and returns the bytes of the vector that comes; none where the
/// step receives from nobody.
Result<std::vector<std::byte>> Swap(const Step& step, const SparseVector& mine,
                                    Endpoint& endpoint) {
  const int64_t length = std::ssize(mine.bytes());
  int64_t coming = 0;
  ASSAY_RETURN_IF_ERROR(
      ExchangeIn(step, std::as_bytes(std::span(&length, 1)),
                 std::as_writable_bytes(std::span(&coming, 1)), endpoint));
  if (step.from != kNobody) {
    ASSAY_RETURN_IF_ERROR(SparseVector::CheckLength(mine.size(), coming));
  }
  std::vector<std::byte> came(static_cast<size_t>(coming));
  ASSAY_RETURN_IF_ERROR(ExchangeIn(step, mine.bytes(), came, endpoint));
  return came;
}

}  // namespace

Status FeedbackScheme::SendOne(std::vector<float>* rest, Tensor* gradient) {
  if (gradient->dtype() != DType::kFloat32) {
    return Unsupported(Reason::kDType, "found a gradient of type ",
                       ToString(gradient->dtype()), ", wanted float32");
  }
  const auto numbers = gradient->mutable_elements<float>();
  rest->resize(numbers.size());
  std::ranges::transform(*rest, numbers, rest->begin(), std::plus());
  return Exchange(*rest, numbers);
}

Result<double> FeedbackScheme::Step(train::Objective& objective) {
  Between together(objective, {}, [&](std::span<Tensor> gradients) {
    rests_.resize(gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(SendOne(&rests_[i], &gradients[i]));
    }
    return OkStatus();
  });
  return optimizer_->Step(together);
}

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

Result<SparseVector> SparseSum(SparseVector mine, Endpoint& endpoint) {
  ASSAY_ASSIGN_OR_RETURN(const Schedule schedule,
                         ScheduleOf({.operation = Operation::kAllReduce,
                                     .algorithm = Algorithm::kRecursiveDoubling,
                                     .ranks = endpoint.size(),
                                     .count = mine.size()},
                                    endpoint.rank()));
  for (const Step& step : schedule) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           Swap(step, mine, endpoint));
    if (step.from == kNobody) continue;
    ASSAY_ASSIGN_OR_RETURN(SparseVector came,
                           SparseVector::FromBytes(mine.size(), bytes));
    if (!step.combines) {
      mine = std::move(came);
    } else if (step.from < endpoint.rank()) {
      mine = SumOf(came, mine);
    } else {
      mine = SumOf(mine, came);
    }
  }
  return mine;
}

Status SparseScheme::Exchange(std::span<float> rest,
                              std::span<float> gradient) {
  std::vector<int32_t> places = GreatestOf(rest, share_);
  std::ranges::sort(places);
  std::vector<PlacedNumber> sent;
  for (const int32_t place : places) {
    float& number = rest[static_cast<size_t>(place)];
    sent.push_back({place, std::exchange(number, 0.0F)});
  }
  ASSAY_ASSIGN_OR_RETURN(
      const SparseVector sum,
      SparseSum(SparseVector(std::ssize(rest), std::move(sent)), endpoint_));
  std::ranges::transform(sum.Numbers(), gradient.begin(), [&](float each) {
    return static_cast<float>(double{each} / endpoint_.size());
  });
  return OkStatus();
}

}  // namespace assay::ranks
