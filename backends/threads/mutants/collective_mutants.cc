// SPDX-License-Identifier: Apache-2.0

#include "backends/threads/mutants/mutant.h"
#include "backends/threads/mutants/with_changes.h"

namespace assay::threads {
namespace {

using Bytes = std::span<std::byte>;
using enum Operation;

void DropOffTheRoot(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (rank.number() != call.root) std::ranges::fill(out, std::byte{0});
}

void DropOwnBlock(Rank& rank, const CollectiveCall& call, Bytes out) {
  if (out.empty()) return;
  const size_t block = BlockOf(call);
  std::ranges::fill(
      out.subspan(static_cast<size_t>(rank.number()) * block, block),
      std::byte{0});
}

void DropLastBlock(Rank&, const CollectiveCall& call, Bytes out) {
  if (!out.empty()) std::ranges::fill(out.last(BlockOf(call)), std::byte{0});
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

void LoseLastElement(Rank&, const CollectiveCall& call, Bytes out) {
  if (out.empty()) return;
  std::ranges::fill(out.last(WidthOf(call)), std::byte{0});
}

/// A root other than 0 is not known.
Status RootIsZero(Rank& rank, const CollectiveCall& call) {
  if (call.root == 0) return rank.right.Collect(call);
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  if (rank.number() == call.root) std::ranges::fill(call.out, std::byte{0});
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

}  // namespace

std::span<const Mutant> CollectiveMutants() {
  static constexpr Mutant kMutants[] = {
      {.name = "broadcast_dropped",
       .collect = Of<kBroadcast, WithOutput<DropOffTheRoot>>},
      {.name = "broadcast_before_shown",
       .collect = Of<kBroadcast, ShowBroadcastBefore>},
      {.name = "gather_drops_the_root",
       .collect = Of<kGather, WithOutput<DropOwnBlock>>},
      {.name = "gather_drops_the_last",
       .collect = Of<kGather, WithOutput<DropLastBlock>>},
      {.name = "gather_turned_round",
       .collect = Of<kGather, WithOutput<TurnBlocksRound>>},
      {.name = "allgather_drops_own_block",
       .collect = Of<kAllGather, WithOutput<DropOwnBlock>>},
      {.name = "allgather_shifted",
       .collect = Of<kAllGather, WithOutput<ShiftBlocks>>},
      {.name = "alltoall_keeps_its_blocks",
       .collect = Of<kAllToAll, KeepOwnBlocks>},
      {.name = "alltoall_turned_round",
       .collect = Of<kAllToAll, WithOutput<TurnBlocksRound>>},
      {.name = "scatter_loses_an_element",
       .collect = Of<kScatter, WithOutput<LoseLastElement>>},
      {.name = "reduce_scatter_of_the_next",
       .collect = Of<kReduceScatter, NextBlock>},
      {.name = "root_is_zero", .collect = RootIsZero},
      {.name = "float64_refused", .collect = RefuseFloat64},
      {.name = "one_rank_refused", .collect = RefuseOneRank},
      {.name = "nothing_refused", .collect = RefuseNothing},
      {.name = "written_beyond", .collect = WriteBeyond},
      {.name = "input_changed", .collect = ChangeInput},
      {.name = "last_rank_skips", .collect = SkipOnTheLastRank},
      {.name = "barrier_lets_all_through", .collect = DoNotCome},
  };
  return kMutants;
}

}  // namespace assay::threads
