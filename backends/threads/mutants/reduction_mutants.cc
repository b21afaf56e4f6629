// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cmath>

#include "backends/threads/mutants/mutant.h"
#include "backends/threads/mutants/with_changes.h"
#include "framework/core/tensor.h"
#include "framework/ranks/reduction.h"

namespace assay::threads {
namespace {

using Bytes = std::span<std::byte>;

void Zero(Bytes bytes) { std::ranges::fill(bytes, std::byte{0}); }

void LoseRankOne(Rank& rank, const CollectiveCall&, Bytes in) {
  if (rank.number() == 1) Zero(in);
}
void LoseTheRoot(Rank& rank, const CollectiveCall& call, Bytes in) {
  if (rank.number() == call.root) Zero(in);
}
void LoseTheLast(Rank& rank, const CollectiveCall&, Bytes in) {
  if (rank.number() == rank.size() - 1) Zero(in);
}
/// Those beyond the greatest power of two.
void LoseTheOdd(Rank& rank, const CollectiveCall&, Bytes in) {
  const auto power = std::bit_floor(static_cast<unsigned>(rank.size()));
  if (static_cast<unsigned>(rank.number()) >= power) Zero(in);
}
void CountTwice(Rank& rank, const CollectiveCall& call, Bytes in) {
  if (rank.number() != 0) return;
  Each(call.type, in, [](auto x) { return static_cast<decltype(x)>(x + x); });
}
void TakeWhatIsInPlaceForNothing(Rank&, const CollectiveCall& call, Bytes in) {
  if (ShareMemory(call.in, call.out)) Zero(in);
}
void ToBfloat16(Rank&, const CollectiveCall& call, Bytes in) {
  Each(call.type, in, []<class T>(T x) {
    if constexpr (!std::is_floating_point_v<T>) return x;
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(x));
    return static_cast<T>(std::bit_cast<float>(bits & 0xFFFF0000U));
  });
}
void ToFloat32(Rank&, const CollectiveCall& call, Bytes in) {
  Each(call.type, in, []<class T>(T x) {
    if constexpr (!std::is_same_v<T, double>) return x;
    return static_cast<T>(static_cast<float>(x));
  });
}
void FlushSmall(Rank&, const CollectiveCall& call, Bytes in) {
  constexpr double kSmall = 0.01;
  Each(call.type, in, []<class T>(T x) {
    return std::abs(static_cast<double>(x)) < kSmall ? T{0} : x;
  });
}

void DivideByRanks(Rank& rank, const CollectiveCall& call, Bytes out) {
  Each(call.type, out, [&]<class T>(T x) {
    return static_cast<T>(x / static_cast<T>(rank.size()));
  });
}
void DivideByOthers(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (rank.size() < 3) return;
  Each(call.type, out, [&]<class T>(T x) {
    return static_cast<T>(x / static_cast<T>(rank.size() - 1));
  });
}
void LoseLastSum(Rank&, const CollectiveCall& call, Bytes out) {
  if (!out.empty()) Zero(out.last(WidthOf(call)));
}
void LoseRemainder(Rank& rank, const CollectiveCall& call, Bytes out) {
  const auto ranks = static_cast<size_t>(rank.size());
  const size_t even = out.size() / WidthOf(call) / ranks * ranks;
  if (even > 0) Zero(out.subspan(even * WidthOf(call)));
}
void HaveItAtTheRootAlone(Rank& rank, const CollectiveCall&, Bytes out) {
  if (rank.number() != 0) Zero(out);
}
void ShowCallBefore(Rank& rank, const CollectiveCall&, Bytes out) {
  const std::vector<std::byte> now(out.begin(), out.end());
  if (rank.kept.size() == out.size()) std::ranges::copy(rank.kept, out.begin());
  rank.kept = now;
}
/// A rank's own rounding, as of another order.
void RoundOnRankOne(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (rank.number() != 1) return;
  Each(call.type, out, []<class T>(T x) {
    if constexpr (std::is_floating_point_v<T>) x = std::nextafter(x, T{0});
    return x;
  });
}

template <Reduction from, Reduction to>
Status Exchanging(Rank& rank, const CollectiveCall& call) {
  CollectiveCall other = call;
  if (call.reduction == from) other.reduction = to;
  return rank.right.Collect(other);
}

/// The rank's own numbers are the result.
Status DoNotWaitForSum(Rank& rank, const CollectiveCall& call) {
  const std::vector<std::byte> in(call.in.begin(), call.in.end());
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  std::copy_n(in.begin(), std::min(in.size(), call.out.size()),
              call.out.begin());
  return OkStatus();
}

/// Every rank adds up for itself, from its own number on.
Status InOrdersOfTheirOwn(Rank& rank, const CollectiveCall& call) {
  if (call.operation != Operation::kAllReduce) return rank.right.Collect(call);
  const auto ranks = static_cast<size_t>(rank.size());
  const size_t block = BlockOf(call);
  std::vector<std::byte> all(ranks * block);
  CollectiveCall gather = call;
  gather.operation = Operation::kAllGather;
  gather.out = all;
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(gather));
  ASSAY_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(call.type, {call.count}));
  for (size_t i = 0; i < ranks; ++i) {
    const size_t other = (static_cast<size_t>(rank.number()) + i) % ranks;
    const auto theirs = std::span(all).subspan(other * block, block);
    if (i == 0) {
      std::ranges::copy(theirs, sum.mutable_data());
      continue;
    }
    ASSAY_RETURN_IF_ERROR(
        ranks::Combine(call.reduction, theirs, {0, call.count}, &sum));
  }
  std::ranges::copy(sum.bytes(), call.out.begin());
  return OkStatus();
}

}  // namespace

std::span<const Mutant> ReductionMutants() {
  using enum Reduction;
  static constexpr Mutant kMutants[] = {
      {.name = "rank_one_not_added",
       .collect = OfReductions<WithInput<LoseRankOne>>},
      {.name = "root_not_added",
       .collect = OfReductions<WithInput<LoseTheRoot>>},
      {.name = "last_rank_not_added",
       .collect = OfReductions<WithInput<LoseTheLast>>},
      {.name = "ranks_beyond_a_power_not_added",
       .collect = OfReductions<WithInput<LoseTheOdd>>},
      {.name = "rank_added_twice",
       .collect = OfReductions<WithInput<CountTwice>>},
      {.name = "in_place_not_added",
       .collect = OfReductions<WithInput<TakeWhatIsInPlaceForNothing>>},
      {.name = "added_as_bfloat16",
       .collect = OfReductions<WithInput<ToBfloat16>>},
      {.name = "float64_added_as_float32",
       .collect = OfReductions<WithInput<ToFloat32>>},
      {.name = "small_numbers_not_added",
       .collect = OfReductions<WithInput<FlushSmall>>},
      {.name = "mean_for_sum",
       .collect = OfReductions<WithOutput<DivideByRanks>>},
      {.name = "sum_by_one_rank_less",
       .collect = OfReductions<WithOutput<DivideByOthers>>},
      {.name = "last_element_not_added",
       .collect = OfReductions<WithOutput<LoseLastSum>>},
      {.name = "remainder_not_added",
       .collect = OfReductions<WithOutput<LoseRemainder>>},
      {.name = "result_at_the_root_alone",
       .collect = OfReductions<WithOutput<HaveItAtTheRootAlone>>},
      {.name = "call_before_shown",
       .collect = OfReductions<WithOutput<ShowCallBefore>>},
      {.name = "rank_one_rounds_again",
       .collect = OfReductions<WithOutput<RoundOnRankOne>>},
      {.name = "product_is_a_sum", .collect = Exchanging<kProduct, kSum>},
      {.name = "sum_is_a_maximum", .collect = Exchanging<kSum, kMax>},
      {.name = "minimum_is_a_maximum", .collect = Exchanging<kMin, kMax>},
      {.name = "maximum_is_a_minimum", .collect = Exchanging<kMax, kMin>},
      {.name = "result_not_waited_for",
       .collect = OfReductions<DoNotWaitForSum>},
      {.name = "orders_of_their_own", .collect = InOrdersOfTheirOwn},
  };
  return kMutants;
}

}  // namespace assay::threads
