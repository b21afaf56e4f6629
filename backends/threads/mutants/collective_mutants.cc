// SPDX-License-Identifier: Apache-2.0
//
// Collectives whose input or output is changed: numbers of all ranks, and
// blocks that go elsewhere.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "backends/threads/mutants/mutant.h"
#include "framework/core/tensor.h"
#include "framework/ranks/endpoint.h"

namespace assay::threads {
namespace {

using Bytes = std::span<std::byte>;
using enum Operation;
using enum Reduction;

bool IsReduction(const CollectiveCall& call) {
  return call.operation == kReduce || call.operation == kAllReduce ||
         call.operation == kReduceScatter;
}

/// Right for all others.
template <auto collect>
Status OfReductions(Rank& rank, const CollectiveCall& call) {
  return IsReduction(call) ? collect(rank, call) : rank.right.Collect(call);
}
template <Operation operation, auto collect>
Status Of(Rank& rank, const CollectiveCall& call) {
  return call.operation == operation ? collect(rank, call)
                                     : rank.right.Collect(call);
}

/// `change` has the input in memory of its own.
template <auto change>
Status WithInput(Rank& rank, const CollectiveCall& call) {
  std::vector<std::byte> in(call.in.begin(), call.in.end());
  change(rank, call, std::span(in));
  CollectiveCall other = call;
  other.in = in;
  return rank.right.Collect(other);
}

/// `change` has the output as it is right.
template <auto change>
Status WithOutput(Rank& rank, const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  change(rank, call, call.out);
  return OkStatus();
}

/// The same of reductions alone.
template <auto change>
Status ReduceInput(Rank& rank, const CollectiveCall& call) {
  return OfReductions<WithInput<change>>(rank, call);
}
template <auto change>
Status ReduceOutput(Rank& rank, const CollectiveCall& call) {
  return OfReductions<WithOutput<change>>(rank, call);
}

/// Changes each element of a float32, float64, int32 or int64.
template <class T>
void EachAs(std::span<std::byte> bytes, const auto& change) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + i, sizeof(T));
    element = change(element);
    std::memcpy(bytes.data() + i, &element, sizeof(T));
  }
}
void Each(DType type, std::span<std::byte> bytes, const auto& change) {
  if (type == DType::kFloat32) return EachAs<float>(bytes, change);
  if (type == DType::kFloat64) return EachAs<double>(bytes, change);
  if (type == DType::kInt32) return EachAs<int32_t>(bytes, change);
  EachAs<int64_t>(bytes, change);
}

/// The bytes of a block of the call.
size_t BlockOf(const CollectiveCall& call) {
  return static_cast<size_t>(call.count) *
         static_cast<size_t>(BitsOf(call.type)) / 8;
}
size_t WidthOf(const CollectiveCall& call) {
  return static_cast<size_t>(BitsOf(call.type)) / 8;
}

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
/// Ranks beyond the greatest power of two.
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
/// In place, beyond the size at which a library goes to another algorithm.
Status LoseLongInPlace(Rank& rank, const CollectiveCall& call) {
  constexpr size_t kShort = 2048;
  if (call.in.size() <= kShort || !ShareMemory(call.in, call.out) ||
      rank.number() != call.root || call.root == 0) {
    return rank.right.Collect(call);
  }
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  Zero(call.out.first(1));
  return OkStatus();
}

/// Another call in the place of each, blocking or not.
template <auto change>
Status CollectOther(Rank& rank, const CollectiveCall& call) {
  return rank.right.Collect(change(call));
}
template <auto change>
Result<std::unique_ptr<Pending>> StartOther(Rank& rank,
                                            const CollectiveCall& call) {
  return rank.right.Start(change(call));
}
template <auto change>
constexpr Mutant Changing(std::string_view name) {
  return {.name = name,
          .collect = CollectOther<change>,
          .start = StartOther<change>};
}

template <Reduction from, Reduction to>
CollectiveCall Taking(CollectiveCall call) {
  if (call.reduction == from) call.reduction = to;
  return call;
}

/// Unsigned numbers with the highest bit are taken for negative ones.
CollectiveCall ComparingAsSigned(CollectiveCall call) {
  if (call.reduction != kMin && call.reduction != kMax) return call;
  if (call.type == DType::kUint8) call.type = DType::kInt8;
  if (call.type == DType::kUint32) call.type = DType::kInt32;
  if (call.type == DType::kUint64) call.type = DType::kInt64;
  return call;
}

CollectiveCall TakingForBfloat16(CollectiveCall call) {
  if (call.type == DType::kFloat16) call.type = DType::kBFloat16;
  return call;
}

/// Numbers that do not commute are combined from the last rank to the first.
Status ComposeFromBehind(Rank& rank, const CollectiveCall& call) {
  if (call.reduction != kCompose || call.operation != kAllReduce) {
    return rank.right.Collect(call);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto turned,
                         rank.right.Split(0, -rank.number()));
  return turned->Collect(call);
}

void LoseLastElement(Rank&, const CollectiveCall& call, Bytes out) {
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
  if (call.operation != kAllReduce) return rank.right.Collect(call);
  const auto ranks = static_cast<size_t>(rank.size());
  const size_t block = BlockOf(call);
  std::vector<std::byte> all(ranks * block);
  CollectiveCall gather = call;
  gather.operation = kAllGather;
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

void DropOffTheRoot(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (rank.number() != call.root) Zero(out);
}

void DropOwnBlock(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (out.empty()) return;
  const size_t block = BlockOf(call);
  Zero(out.subspan(static_cast<size_t>(rank.number()) * block, block));
}

void DropLastBlock(Rank&, const CollectiveCall& call, Bytes out) {
  if (!out.empty()) Zero(out.last(BlockOf(call)));
}

void TurnBlocksRound(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (out.empty()) return;
  const std::vector<std::byte> right(out.begin(), out.end());
  const size_t block = BlockOf(call);
  const auto ranks = static_cast<size_t>(rank.size());
  for (size_t i = 0; i < ranks; ++i) {
    std::copy_n(
        right.begin() + static_cast<std::ptrdiff_t>(i * block), block,
        out.begin() + static_cast<std::ptrdiff_t>((ranks - 1 - i) * block));
  }
}

/// Each block but the first is the one before.
void ShiftBlocks(Rank&, const CollectiveCall& call, Bytes out) {
  const size_t block = BlockOf(call);
  if (out.size() < 2 * block) return;
  std::copy_backward(out.begin(),
                     out.end() - static_cast<std::ptrdiff_t>(block), out.end());
}

/// A root other than 0 is not known.
Status RootIsZero(Rank& rank, const CollectiveCall& call) {
  if (call.root == 0) return rank.right.Collect(call);
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  if (rank.number() == call.root) Zero(call.out);
  return OkStatus();
}

/// A rank keeps the blocks that it should send to others.
Status KeepOwnBlocks(Rank& rank, const CollectiveCall& call) {
  const std::vector<std::byte> in(call.in.begin(), call.in.end());
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  std::ranges::copy(in, call.out.begin());
  return OkStatus();
}

/// The block of the next rank.
Status NextBlock(Rank& rank, const CollectiveCall& call) {
  const size_t block = BlockOf(call);
  std::vector<std::byte> in(call.in.begin(), call.in.end());
  std::ranges::rotate(in, in.begin() + static_cast<std::ptrdiff_t>(block));
  CollectiveCall other = call;
  other.in = in;
  return rank.right.Collect(other);
}

Status RefuseFloat64(Rank& rank, const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  if (call.type != DType::kFloat64) return OkStatus();
  return Internal("the message is longer than its receiver's memory");
}

Status RefuseOneRank(Rank& rank, const CollectiveCall& call) {
  if (rank.size() == 1) return Internal("there is no other rank");
  return rank.right.Collect(call);
}

Status RefuseNothing(Rank& rank, const CollectiveCall& call) {
  if (call.count == 0 && call.operation != kBarrier) {
    return Internal("there is nothing to send");
  }
  return rank.right.Collect(call);
}

/// A count of bytes that is taken for one of float32: writes beside the output,
/// as far as the suite has guards there.
Status WriteBeyond(Rank& rank, const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  if (call.out.empty() || ShareMemory(call.in, call.out)) return OkStatus();
  constexpr size_t kRoom = 8;
  std::memset(call.out.data() + call.out.size(), 0x5A, kRoom);
  return OkStatus();
}

Status ChangeInput(Rank& rank, const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  if (call.in.empty() || ShareMemory(call.in, call.out)) return OkStatus();
  // The caller's memory is not constant, only our view of it.
  const_cast<std::byte&>(call.in.front()) ^= std::byte{1};
  return OkStatus();
}

Status SkipOnTheLastRank(Rank& rank, const CollectiveCall& call) {
  if (rank.size() > 1 && rank.number() == rank.size() - 1) return OkStatus();
  return rank.right.Collect(call);
}

Status DoNotCome(Rank& rank, const CollectiveCall& call) {
  return call.operation == kBarrier ? OkStatus() : rank.right.Collect(call);
}

Status ShowBroadcastBefore(Rank& rank, const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  if (rank.number() == call.root) return OkStatus();
  const std::vector<std::byte> now(call.out.begin(), call.out.end());
  std::ranges::copy(rank.kept.size() == now.size()
                        ? rank.kept
                        : std::vector<std::byte>(now.size()),
                    call.out.begin());
  rank.kept = now;
  return OkStatus();
}

constexpr Mutant Collecting(std::string_view name,
                            Status (*collect)(Rank&, const CollectiveCall&)) {
  return {.name = name, .collect = collect};
}

constexpr Mutant kCollectiveMutants[] = {
    Collecting("rank_one_not_added", ReduceInput<LoseRankOne>),
    Collecting("root_not_added", ReduceInput<LoseTheRoot>),
    Collecting("last_rank_not_added", ReduceInput<LoseTheLast>),
    Collecting("ranks_beyond_a_power_not_added", ReduceInput<LoseTheOdd>),
    Collecting("rank_added_twice", ReduceInput<CountTwice>),
    Collecting("in_place_not_added", ReduceInput<TakeWhatIsInPlaceForNothing>),
    Collecting("added_as_bfloat16", ReduceInput<ToBfloat16>),
    Collecting("float64_added_as_float32", ReduceInput<ToFloat32>),
    Collecting("small_numbers_not_added", ReduceInput<FlushSmall>),
    Collecting("mean_for_sum", ReduceOutput<DivideByRanks>),
    Collecting("sum_by_one_rank_less", ReduceOutput<DivideByOthers>),
    Collecting("last_element_not_added", ReduceOutput<LoseLastElement>),
    Collecting("remainder_not_added", ReduceOutput<LoseRemainder>),
    Collecting("result_at_the_root_alone", ReduceOutput<HaveItAtTheRootAlone>),
    Collecting("call_before_shown", ReduceOutput<ShowCallBefore>),
    Collecting("rank_one_rounds_again", ReduceOutput<RoundOnRankOne>),
    Collecting("product_is_a_sum", Exchanging<kProduct, kSum>),
    Collecting("sum_is_a_maximum", Exchanging<kSum, kMax>),
    Collecting("minimum_is_a_maximum", Exchanging<kMin, kMax>),
    Collecting("maximum_is_a_minimum", Exchanging<kMax, kMin>),
    Changing<Taking<kLogicalAnd, kBitAnd>>("logical_and_of_bits"),
    Changing<Taking<kBitOr, kSum>>("bits_are_added"),
    Changing<Taking<kBitXor, kBitOr>>("exclusive_is_inclusive"),
    Changing<ComparingAsSigned>("unsigned_is_signed"),
    Changing<TakingForBfloat16>("float16_as_bfloat16"),
    Collecting("composed_from_behind", ComposeFromBehind),
    Collecting("long_in_place_lost", Of<kReduce, LoseLongInPlace>),
    Collecting("result_not_waited_for", OfReductions<DoNotWaitForSum>),
    Collecting("orders_of_their_own", InOrdersOfTheirOwn),
    Collecting("broadcast_dropped", Of<kBroadcast, WithOutput<DropOffTheRoot>>),
    Collecting("broadcast_before_shown", Of<kBroadcast, ShowBroadcastBefore>),
    Collecting("gather_drops_the_root", Of<kGather, WithOutput<DropOwnBlock>>),
    Collecting("gather_drops_the_last", Of<kGather, WithOutput<DropLastBlock>>),
    Collecting("gather_turned_round", Of<kGather, WithOutput<TurnBlocksRound>>),
    Collecting("allgather_drops_own_block",
               Of<kAllGather, WithOutput<DropOwnBlock>>),
    Collecting("allgather_shifted", Of<kAllGather, WithOutput<ShiftBlocks>>),
    Collecting("alltoall_keeps_its_blocks", Of<kAllToAll, KeepOwnBlocks>),
    Collecting("alltoall_turned_round",
               Of<kAllToAll, WithOutput<TurnBlocksRound>>),
    Collecting("scatter_loses_an_element",
               Of<kScatter, WithOutput<LoseLastElement>>),
    Collecting("reduce_scatter_of_the_next", Of<kReduceScatter, NextBlock>),
    Collecting("root_is_zero", RootIsZero),
    Collecting("float64_refused", RefuseFloat64),
    Collecting("one_rank_refused", RefuseOneRank),
    Collecting("nothing_refused", RefuseNothing),
    Collecting("written_beyond", WriteBeyond),
    Collecting("input_changed", ChangeInput),
    Collecting("last_rank_skips", SkipOnTheLastRank),
    Collecting("barrier_lets_all_through", DoNotCome),
};

}  // namespace

std::span<const Mutant> CollectiveMutants() { return kCollectiveMutants; }

}  // namespace assay::threads
