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

#include "framework/ranks/schedule.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {
namespace {

struct ThreadGroup {
  std::vector<int> members;  // ranks of the world, by rank here
  int rank = 0;              // this rank here

  int MemberOf(int other) const {
    return other == kNobody ? kNobody : members[static_cast<size_t>(other)];
  }
};

class ThreadCall;

/// The collectives that a rank has under way, of all its communicators. They
/// progress while the rank waits for one of them, or for a message.
class ThreadCalls {
 public:
  /// `rank` is the rank in `world`, which must outlive this.
  ThreadCalls(World* world, int rank) : world_(*world), rank_(rank) {}

  /// Begins a collective, the only one on its channel. Invalid argument for
  /// memory of another size than the collective's, unsupported as Combine. The
  /// result must not outlive these calls.
  Result<std::unique_ptr<Pending>> Start(const ThreadGroup& group,
                                         Channel channel,
                                         const CollectiveCall& call);

  /// Waits for a point-to-point message. Collectives under way progress.
  Result<Message> Receive(const Wanted& wanted);

 private:
  friend class ThreadCall;

  /// Returns when the call is done; all calls progress as messages come.
  Status WaitFor(const ThreadCall& call);
  /// Takes one message: one that a collective wants, or the `other`, which it
  /// returns.
  Result<std::optional<Message>> GoOn(const std::optional<Wanted>& other);
  void Forget(const ThreadCall* call) { std::erase(under_way_, call); }

  World& world_;
  const int rank_;
  std::vector<ThreadCall*> under_way_;
};

/// Short vectors by an algorithm of few messages, long ones by one of short
/// messages.
Algorithm AlgorithmFor(const Collective& what) {
  switch (what.operation) {
    case Operation::kBarrier:
      return Algorithm::kDissemination;
    case Operation::kBroadcast:
    case Operation::kReduce:
      return Algorithm::kBinomial;
    case Operation::kAllReduce:
      return what.count < what.ranks ? Algorithm::kRecursiveDoubling
                                     : Algorithm::kRing;
    case Operation::kReduceScatter:
    case Operation::kAllGather:
      return Algorithm::kRing;
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kAllToAll:
      break;
  }
  return Algorithm::kLinear;
}

Collective CollectiveOf(const CollectiveCall& call, int ranks) {
  Collective what{.operation = call.operation,
                  .algorithm = Algorithm::kLinear,
                  .ranks = ranks,
                  .count = call.count,
                  .root = call.root};
  what.algorithm = AlgorithmFor(what);
  return what;
}

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

/// Neighbours are ranks of the group; the channel is theirs alone.
class ThreadNeighbors final : public Neighbors {
 public:
  ThreadNeighbors(World& world, ThreadCalls& calls, const ThreadGroup& group,
                  Channel channel, std::span<const int> to,
                  std::span<const int> from)
      : world_(world),
        calls_(calls),
        group_(group),
        channel_(channel),
        to_(to.begin(), to.end()),
        from_(from.begin(), from.end()) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    ASSAY_ASSIGN_OR_RETURN(const size_t block,
                           BlockBytes(out, to_.size(), in, from_.size()));
    for (const int other : to_) {
      ASSAY_RETURN_IF_ERROR(world_.Send(channel_, group_.MemberOf(group_.rank),
                                        group_.MemberOf(other),
                                        out.first(block)));
      out = out.subspan(block);
    }
    for (const int other : from_) {
      ASSAY_ASSIGN_OR_RETURN(
          const Message came,
          calls_.Receive({group_.MemberOf(other), channel_}));
      if (came.bytes.size() != block) {
        return DataLoss("rank ", group_.rank, ": found ", came.bytes.size(),
                        " bytes from the neighbor ", other, ", wanted ", block);
      }
      std::ranges::copy(came.bytes, in.begin());
      in = in.subspan(block);
    }
    return OkStatus();
  }

 private:
  World& world_;
  ThreadCalls& calls_;
  const ThreadGroup group_;
  const Channel channel_;
  const std::vector<int> to_, from_;
};

class ThreadCall final : public Pending {
 public:
  static Result<std::unique_ptr<ThreadCall>> Of(ThreadCalls* calls,
                                                const ThreadGroup& group,
                                                Channel channel,
                                                const CollectiveCall& call) {
    auto made = std::make_unique<ThreadCall>(calls, group, channel, call);
    ASSAY_RETURN_IF_ERROR(made->Begin());
    return made;
  }

  ThreadCall(ThreadCalls* calls, const ThreadGroup& group, Channel channel,
             const CollectiveCall& call)
      : calls_(*calls), group_(group), channel_(channel), call_(call) {}
  ~ThreadCall() override { calls_.Forget(this); }

  Status Wait() override { return calls_.WaitFor(*this); }

  bool is_done() const { return is_done_; }
  const Status& status() const { return status_; }
  /// The message that the call waits for; nothing where it is done.
  Wanted wanted() const {
    return {group_.MemberOf(schedule_[at_].from), channel_};
  }

  /// Takes all steps whose messages have arrived.
  void GoOn() {
    if (is_done_) return;
    const Status status = TakeSteps();
    if (!status.ok() || at_ == schedule_.size()) End(status);
  }

  /// Takes the message that wanted() named.
  void Take(const Message& message) {
    const Status status = PutIn(message.bytes);
    if (!status.ok()) return End(status);
    ++at_;
    has_sent_ = false;
    GoOn();
  }

 private:
  Status Begin() {
    what_ = CollectiveOf(call_, static_cast<int>(group_.members.size()));
    ASSAY_ASSIGN_OR_RETURN(schedule_, ScheduleOf(what_, group_.rank));
    ASSAY_ASSIGN_OR_RETURN(buffer_,
                           Tensor::Allocate(call_.type, {ElementsOf(what_)}));
    ASSAY_ASSIGN_OR_RETURN(
        const CollectiveCall own,
        OwnCallOf(what_, call_.reduction, group_.rank, &buffer_));
    if (call_.in.size() != own.in.size() ||
        call_.out.size() != own.out.size()) {
      return InvalidArgument("found ", call_.in.size(), " bytes of input and ",
                             call_.out.size(), " of output for ",
                             ToString(what_), ", wanted ", own.in.size(),
                             " and ", own.out.size());
    }
    const OwnParts parts = OwnPartsOf(what_, group_.rank);
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(parts.in, &buffer_));
    std::ranges::copy(call_.in, in.begin());
    GoOn();
    return OkStatus();
  }

  /// Takes steps until one has to wait, or all are taken.
  Status TakeSteps() {
    for (; at_ < schedule_.size(); ++at_, has_sent_ = false) {
      ASSAY_RETURN_IF_ERROR(SendStep());
      if (schedule_[at_].from == kNobody) continue;
      const std::optional<Message> came =
          calls_.world_.ReceiveNow(wanted(), calls_.rank_);
      if (!came.has_value()) break;
      ASSAY_RETURN_IF_ERROR(PutIn(came->bytes));
    }
    return OkStatus();
  }

  Status SendStep() {
    const Step& step = schedule_[at_];
    if (has_sent_ || step.to == kNobody) return OkStatus();
    has_sent_ = true;
    ASSAY_ASSIGN_OR_RETURN(const auto out, BytesOf(step.out, &buffer_));
    return calls_.world_.Send(channel_, calls_.rank_, group_.MemberOf(step.to),
                              out);
  }

  Status PutIn(std::span<const std::byte> came) {
    const Step& step = schedule_[at_];
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(step.in, &buffer_));
    if (came.size() != in.size()) {
      return DataLoss("found ", came.size(), " bytes from rank ", step.from,
                      " for ", ToString(what_), ", wanted ", in.size());
    }
    if (step.combines) return Combine(call_.reduction, came, step.in, &buffer_);
    std::ranges::copy(came, in.begin());
    return OkStatus();
  }

  void End(const Status& status) {
    is_done_ = true;
    status_ = status;
    calls_.Forget(this);
    if (!status.ok()) return;
    const auto out = BytesOf(OwnPartsOf(what_, group_.rank).out, &buffer_);
    std::ranges::copy(*out, call_.out.begin());
  }

  ThreadCalls& calls_;
  const ThreadGroup group_;
  const Channel channel_;
  const CollectiveCall call_;
  Collective what_;
  Tensor buffer_;
  Schedule schedule_;
  size_t at_ = 0;
  bool has_sent_ = false;  // of the step
  bool is_done_ = false;
  Status status_;
};

Result<std::unique_ptr<Pending>> ThreadCalls::Start(
    const ThreadGroup& group, Channel channel, const CollectiveCall& call) {
  ASSAY_ASSIGN_OR_RETURN(auto made, ThreadCall::Of(this, group, channel, call));
  if (!made->is_done()) under_way_.push_back(made.get());
  return std::unique_ptr<Pending>(std::move(made));
}

Result<std::optional<Message>> ThreadCalls::GoOn(
    const std::optional<Wanted>& other) {
  // Calls that end leave the list.
  for (ThreadCall* const each : std::vector(under_way_)) each->GoOn();
  std::vector<Wanted> wanted;
  if (other.has_value()) wanted.push_back(*other);
  for (const ThreadCall* const each : under_way_) {
    wanted.push_back(each->wanted());
  }
  if (wanted.empty()) return std::optional<Message>();
  ASSAY_ASSIGN_OR_RETURN(Message came, world_.Receive(wanted, rank_));
  const auto whose = std::ranges::find_if(
      under_way_,
      [&](const ThreadCall* each) { return each->wanted().Matches(came); });
  if (whose == under_way_.end()) return std::optional(std::move(came));
  (*whose)->Take(came);
  return std::optional<Message>();
}

Result<Message> ThreadCalls::Receive(const Wanted& wanted) {
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<Message> came, GoOn(wanted));
    if (came.has_value()) return *std::move(came);
  }
}

Status ThreadCalls::WaitFor(const ThreadCall& call) {
  while (!call.is_done()) {
    ASSAY_RETURN_IF_ERROR(GoOn(std::nullopt).status());
  }
  return call.status();
}

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
    const Channel channel{number_, ++started_};
    return std::unique_ptr<Neighbors>(std::make_unique<ThreadNeighbors>(
        world_, calls_, group_, channel, to, from));
  }

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
