// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/sparse.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "framework/ranks/schedule.h"
#include "framework/ranks/scheme/codec/codec.h"

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

/// Replaces the gradient by the mean of what all ranks send.
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

Result<double> SparseScheme::Step(train::Objective& objective) {
  return rests_.Step(objective, *optimizer_,
                     [&](std::span<float> rest, std::span<float> gradient) {
                       return Exchange(rest, gradient);
                     });
}

}  // namespace assay::ranks
