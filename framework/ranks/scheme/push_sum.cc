// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/push_sum.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <set>
#include <span>

#include "framework/core/tensor.h"
#include "framework/ranks/scheme/between.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::ranks {
namespace {

/// The elements of all parameters, concatenated.
Result<std::vector<double>> NumbersOf(train::Objective& objective) {
  std::vector<double> numbers;
  for (Tensor& value : ValuesOf(objective)) {
    ASSAY_RETURN_IF_ERROR(
        train::InPlace(&value, value, {}, [&](const auto& each) {
          numbers.insert(numbers.end(), each.x.begin(), each.x.end());
        }));
  }
  return numbers;
}

/// Writes numbers / weight into the parameters, rounded once.
Status Write(std::span<const double> numbers, double weight,
             train::Objective& objective) {
  for (Tensor& value : ValuesOf(objective)) {
    ASSAY_RETURN_IF_ERROR(train::InPlace(
        &value, value, {}, [&]<class T>(const train::Elements<T>& each) {
          for (size_t i = 0; i < each.x.size(); ++i) {
            each.x[i] = static_cast<T>(numbers[i] / weight);
          }
          numbers = numbers.subspan(each.x.size());
        }));
  }
  return OkStatus();
}

}  // namespace

std::vector<int> HopsOf(Directed graph, int rank, int ranks, int64_t step) {
  if (ranks == 1) return {};
  if (graph == Directed::kOnePeer) {
    return {1 << (step % std::bit_width(static_cast<unsigned>(ranks - 1)))};
  }
  if (rank % 2 == 0 && ranks > 2) return {1, 2};
  return {1};
}

/// Sends the rank's parts to the ranks ahead, by ascending distance; a rank
/// that sends and receives at a distance does both at once.
Status PushSumScheme::Push() {
  const int rank = endpoint_.rank();
  const int ranks = endpoint_.size();
  const auto sends = [&](int who, int hop) {
    const std::vector<int> hops = HopsOf(graph_, who, ranks, steps_);
    return std::ranges::find(hops, hop) != hops.end();
  };
  std::set<int> hops;
  for (int who = 0; who < ranks; ++who) {
    for (const int hop : HopsOf(graph_, who, ranks, steps_)) hops.insert(hop);
  }
  const std::vector<int> own = HopsOf(graph_, rank, ranks, steps_);
  for (double& each : mass_) each /= static_cast<double>(own.size() + 1);
  const std::vector<double> part = mass_;
  std::vector<double> came(part.size());
  const auto out = std::as_bytes(std::span(part));
  const auto in = std::as_writable_bytes(std::span(came));
  for (const int hop : hops) {
    const int behind = (rank - hop + ranks) % ranks;
    const int to = sends(rank, hop) ? (rank + hop) % ranks : kNobody;
    const int from = sends(behind, hop) ? behind : kNobody;
    ASSAY_RETURN_IF_ERROR(
        endpoint_.Exchange(to, out.first(to == kNobody ? 0 : out.size()), from,
                           in.first(from == kNobody ? 0 : in.size())));
    if (from == kNobody) continue;
    std::ranges::transform(mass_, came, mass_.begin(), std::plus<double>());
  }
  return OkStatus();
}

Result<double> PushSumScheme::Step(train::Objective& objective) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> before,
                         NumbersOf(objective));
  if (mass_.empty()) {
    mass_ = before;
    mass_.push_back(1);
  }
  ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer_->Step(objective));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> behind,
                         NumbersOf(objective));
  for (size_t i = 0; i < before.size(); ++i) mass_[i] += behind[i] - before[i];
  ASSAY_RETURN_IF_ERROR(Push());
  ++steps_;
  ASSAY_RETURN_IF_ERROR(
      Write(std::span(mass_).first(before.size()), weight(), objective));
  return loss;
}

}  // namespace assay::ranks
