// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "framework/ranks/threads/thread_calls.h"
#include "framework/ranks/threads/world.h"

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

/// Neighbours are ranks of the group.
class ThreadNeighbors final : public Neighbors {
 public:
  /// An exchange is the next collective of the group `number`, of which
  /// `started` have been.
  ThreadNeighbors(World& world, ThreadCalls& calls, const ThreadGroup& group,
                  int64_t number, int64_t* started, std::span<const int> to,
                  std::span<const int> from)
      : world_(world),
        calls_(calls),
        group_(group),
        number_(number),
        started_(*started),
        to_(to.begin(), to.end()),
        from_(from.begin(), from.end()) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    ASSAY_ASSIGN_OR_RETURN(const auto pending, Start(out, in));
    return pending->Wait();
  }

  Result<std::unique_ptr<Pending>> Start(std::span<const std::byte> out,
                                         std::span<std::byte> in) override {
    ASSAY_ASSIGN_OR_RETURN(const size_t block,
                           BlockBytes(out, to_.size(), in, from_.size()));
    const Channel exchange{number_, ++started_};
    for (const int other : to_) {
      ASSAY_RETURN_IF_ERROR(world_.Send(exchange, group_.MemberOf(group_.rank),
                                        group_.MemberOf(other),
                                        out.first(block)));
      out = out.subspan(block);
    }
    return std::unique_ptr<Pending>(
        std::make_unique<Begun>(*this, exchange, block, in));
  }

 private:
  class Begun final : public Pending {
   public:
    Begun(const ThreadNeighbors& of, Channel exchange, size_t block,
          std::span<std::byte> in)
        : of_(of), exchange_(exchange), block_(block), in_(in) {}
    Status Wait() override { return of_.Receive(exchange_, block_, in_); }

   private:
    const ThreadNeighbors& of_;
    const Channel exchange_;
    const size_t block_;
    const std::span<std::byte> in_;
  };

  Status Receive(Channel exchange, size_t block,
                 std::span<std::byte> in) const {
    for (const int other : from_) {
      ASSAY_ASSIGN_OR_RETURN(
          const Message came,
          calls_.Receive({group_.MemberOf(other), exchange}));
      if (came.bytes.size() != block) {
        return DataLoss("rank ", group_.rank, ": found ", came.bytes.size(),
                        " bytes from the neighbor ", other, ", wanted ", block);
      }
      std::ranges::copy(came.bytes, in.begin());
      in = in.subspan(block);
    }
    return OkStatus();
  }

  World& world_;
  ThreadCalls& calls_;
  const ThreadGroup group_;
  const int64_t number_;
  int64_t& started_;
  const std::vector<int> to_, from_;
};

/// The communicator of a rank that is a thread.
class ThreadEndpoint final : public Endpoint {
 public:
  /// The communicator of all ranks. World and calls must outlive this.
  ThreadEndpoint(World* world, ThreadCalls* calls, int rank)
      : ThreadEndpoint(world, calls, Everybody(*world, rank), 0) {}
  /// The communicator of some ranks.
  ThreadEndpoint(World* world, ThreadCalls* calls, ThreadGroup group,
                 int64_t number)
      : world_(*world),
        calls_(*calls),
        group_(std::move(group)),
        number_(number) {}

  int rank() const override { return group_.rank; }
  int size() const override { return static_cast<int>(group_.members.size()); }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    if (to != kNobody) ASSAY_RETURN_IF_ERROR(CheckRank(to));
    if (from != kNobody) ASSAY_RETURN_IF_ERROR(CheckRank(from));
    if (to != kNobody) {
      ASSAY_RETURN_IF_ERROR(
          world_.Send({number_, 0}, world_rank(), group_.MemberOf(to), out));
    }
    if (from == kNobody) return OkStatus();
    return Receive(group_.MemberOf(from), in).status();
  }

  Result<int> ReceiveAny(std::span<std::byte> in) override {
    return Receive(kAnybody, in);
  }

  Status Collect(const CollectiveCall& call) override {
    ASSAY_ASSIGN_OR_RETURN(const auto pending, Start(call));
    return pending->Wait();
  }

  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override {
    return calls_.Start(group_, {number_, ++started_}, call);
  }

  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override {
    const Wish mine{color, key, rank()};
    std::vector<Wish> wishes(static_cast<size_t>(size()));
    // On the channel of a collective, so that no message of the rank is taken
    // for it.
    const Channel channel{number_, ++started_};
    for (const int other : group_.members) {
      ASSAY_RETURN_IF_ERROR(world_.Send(channel, world_rank(), other,
                                        std::as_bytes(std::span(&mine, 1))));
    }
    for (size_t i = 0; i < wishes.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const Message came,
                             calls_.Receive({group_.members[i], channel}));
      std::ranges::copy(
          came.bytes, std::as_writable_bytes(std::span(&wishes[i], 1)).begin());
    }
    if (color == kNoColor) return std::unique_ptr<Endpoint>();
    // The first rank of a group gives it its number.
    const std::vector<int> ranks = RanksOf(color, wishes);
    ThreadGroup group;
    for (const int each : ranks) {
      group.members.push_back(group_.MemberOf(each));
    }
    group.rank =
        static_cast<int>(std::ranges::find(ranks, rank()) - ranks.begin());
    int64_t number = 0;
    if (group.rank == 0) {
      number = world_.NewGroup();
      for (const int other : group.members) {
        ASSAY_RETURN_IF_ERROR(
            world_.Send(channel, world_rank(), other,
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

  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override {
    for (const int other : to) ASSAY_RETURN_IF_ERROR(CheckRank(other));
    for (const int other : from) ASSAY_RETURN_IF_ERROR(CheckRank(other));
    return std::unique_ptr<Neighbors>(std::make_unique<ThreadNeighbors>(
        world_, calls_, group_, number_, &started_, to, from));
  }

  bool has(Reduction) const override { return true; }

  Result<Counted> counted() const override {
    // Collectives are messages of the world, too.
    return Counted{.sent = world_.SentBy(world_rank())};
  }

 private:
  int world_rank() const { return group_.MemberOf(group_.rank); }

  Status CheckRank(int other) const {
    if (other >= 0 && other < size()) return OkStatus();
    return InvalidArgument("found the rank ", other, ", wanted one below ",
                           size());
  }

  /// Receives a message from a rank of the group, or from anybody, and returns
  /// its sender.
  Result<int> Receive(int from, std::span<std::byte> in) {
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

  World& world_;
  ThreadCalls& calls_;
  const ThreadGroup group_;
  const int64_t number_;  // of the group
  int64_t started_ = 0;   // collectives
};

}  // namespace

std::vector<Status> RunThreads(int ranks,
                               const std::function<Status(Endpoint&)>& rank,
                               Choices* choices) {
  const int count = std::max(0, ranks);
  World world(count, choices);
  std::vector<Status> ended(static_cast<size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        world.Begin(i);
        ThreadCalls calls(&world, i);
        ThreadEndpoint endpoint(&world, &calls, i);
        Status& status = ended[static_cast<size_t>(i)];
        status = rank(endpoint);
        world.End(i, status);
      });
    }
  }
  return ended;
}

}  // namespace assay::ranks
