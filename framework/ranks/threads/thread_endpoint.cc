// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/thread_endpoint.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "framework/ranks/threads/thread_neighbors.h"

namespace assay::ranks {
namespace {

/// A rank's arguments of Split.
struct Wish {
  int color = 0, key = 0, rank = 0;
};

ThreadGroup Everybody(const World& world, int rank) {
  ThreadGroup group{std::vector<int>(static_cast<size_t>(world.ranks())), rank};
  std::iota(group.members.begin(), group.members.end(), 0);
  return group;
}

/// The ranks of a color, in the order of their keys.
std::vector<int> RanksOf(int color, std::vector<Wish> wishes) {
  std::ranges::stable_sort(wishes, {}, &Wish::key);
  std::vector<int> ranks;
  for (const Wish& each : wishes) {
    if (each.color == color) ranks.push_back(each.rank);
  }
  return ranks;
}

}  // namespace

ThreadEndpoint::ThreadEndpoint(World* world, ThreadCalls* calls, int rank)
    : ThreadEndpoint(world, calls, Everybody(*world, rank), 0) {}

ThreadEndpoint::ThreadEndpoint(World* world, ThreadCalls* calls,
                               ThreadGroup group, int64_t number)
    : world_(*world),
      calls_(*calls),
      group_(std::move(group)),
      number_(number) {}

Status ThreadEndpoint::CheckRank(int other) const {
  if (other >= 0 && other < size()) return OkStatus();
  return InvalidArgument("found the rank ", other, ", wanted one below ",
                         size());
}

Status ThreadEndpoint::Exchange(int to, std::span<const std::byte> out,
                                int from, std::span<std::byte> in) {
  if (to != kNobody) ASSAY_RETURN_IF_ERROR(CheckRank(to));
  if (from != kNobody) ASSAY_RETURN_IF_ERROR(CheckRank(from));
  if (to != kNobody) {
    ASSAY_RETURN_IF_ERROR(world_.Send({number_, 0}, world_rank(),
                                      group_.members[static_cast<size_t>(to)],
                                      out));
  }
  if (from == kNobody) return OkStatus();
  return Receive(group_.members[static_cast<size_t>(from)], in).status();
}

Result<int> ThreadEndpoint::ReceiveAny(std::span<std::byte> in) {
  return Receive(kAnybody, in);
}

Result<int> ThreadEndpoint::Receive(int from, std::span<std::byte> in) {
  ASSAY_ASSIGN_OR_RETURN(const Message came,
                         calls_.Receive({from, {number_, 0}}));
  const auto sender = static_cast<int>(
      std::ranges::find(group_.members, came.from) - group_.members.begin());
  if (came.bytes.size() != in.size()) {
    return DataLoss("rank ", rank(), ": found ", came.bytes.size(),
                    " bytes from rank ", sender, ", wanted ", in.size());
  }
  std::ranges::copy(came.bytes, in.begin());
  return sender;
}

Status ThreadEndpoint::Collect(const CollectiveCall& call) {
  ASSAY_ASSIGN_OR_RETURN(const auto pending, Start(call));
  return pending->Wait();
}

Result<std::unique_ptr<Pending>> ThreadEndpoint::Start(
    const CollectiveCall& call) {
  return calls_.Start(group_, {number_, ++started_}, call);
}

Result<std::unique_ptr<Endpoint>> ThreadEndpoint::Split(int color, int key) {
  const Wish mine{color, key, rank()};
  std::vector<Wish> wishes(static_cast<size_t>(size()));
  // On the channel of a collective, so that no message of the rank is taken for
  // it.
  const Channel channel{number_, ++started_};
  for (const int other : group_.members) {
    ASSAY_RETURN_IF_ERROR(world_.Send(channel, world_rank(), other,
                                      std::as_bytes(std::span(&mine, 1))));
  }
  for (size_t i = 0; i < wishes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const Message came,
                           calls_.Receive({group_.members[i], channel}));
    std::ranges::copy(came.bytes,
                      std::as_writable_bytes(std::span(&wishes[i], 1)).begin());
  }
  // The first rank of a group gives it its number.
  const std::vector<int> ranks = RanksOf(color, wishes);
  ThreadGroup group;
  for (const int each : ranks) {
    group.members.push_back(group_.members[static_cast<size_t>(each)]);
  }
  group.rank =
      static_cast<int>(std::ranges::find(ranks, rank()) - ranks.begin());
  int64_t number = 0;
  if (group.rank == 0) {
    number = world_.NewGroup();
    for (const int other : group.members) {
      ASSAY_RETURN_IF_ERROR(world_.Send(channel, world_rank(), other,
                                        std::as_bytes(std::span(&number, 1))));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const Message numbered,
                         calls_.Receive({group.members[0], channel}));
  std::ranges::copy(numbered.bytes,
                    std::as_writable_bytes(std::span(&number, 1)).begin());
  return std::unique_ptr<Endpoint>(std::make_unique<ThreadEndpoint>(
      &world_, &calls_, std::move(group), number));
}

Result<std::unique_ptr<Neighbors>> ThreadEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  for (const int other : to) ASSAY_RETURN_IF_ERROR(CheckRank(other));
  for (const int other : from) ASSAY_RETURN_IF_ERROR(CheckRank(other));
  const Channel channel{number_, ++started_};
  return std::unique_ptr<Neighbors>(std::make_unique<ThreadNeighbors>(
      &world_, &calls_, group_, channel, std::vector(to.begin(), to.end()),
      std::vector(from.begin(), from.end())));
}

Result<Counted> ThreadEndpoint::counted() const {
  // Collectives are messages of the world, too.
  return Counted{.sent = world_.SentBy(world_rank())};
}

}  // namespace assay::ranks
