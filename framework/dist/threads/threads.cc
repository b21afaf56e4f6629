// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/threads/threads.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "framework/core/text.h"

namespace assay::dist {
namespace {

struct Message {
  int from;
  std::vector<std::byte> bytes;
};

/// What the world knows of a rank.
struct Member {
  std::deque<Message> came;  // in the order of their sending
  int awaits = kNobody;
  bool has_ended = false;
  std::condition_variable wakes;
};

/// What all ranks share. A message has room until it is received.
class World {
 public:
  World(int ranks, Choices* choices)
      : choices_(choices), members_(static_cast<size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(members_.size()); }

  /// A rank's first turn.
  void Begin(int rank);
  Status Send(int from, int to, std::span<const std::byte> bytes);
  Result<Message> Receive(int from, int to);
  /// A rank has returned.
  void End(int rank, const Status& status);

 private:
  using Lock = std::unique_lock<std::mutex>;

  Member& At(int rank) { return members_[static_cast<size_t>(rank)]; }
  /// The senders whose messages could be taken, each once.
  std::vector<int> Answers(int rank);
  bool CanGoOn(int rank);
  void PassTurn();
  void WaitForTurn(int rank, Lock& lock);
  void Stop(const Status& failure);
  void StopWhereAllWait();

  std::mutex mutex_;
  Choices* const choices_;
  std::vector<Member> members_;
  int turn_ = kNobody;
  int begun_ = 0;
  std::string failed_;  // the first rank that did
  Status failure_;      // what those get that wait
};

std::vector<int> World::Answers(int rank) {
  const Member& member = At(rank);
  std::vector<int> senders;
  for (const Message& message : member.came) {
    const bool is_wanted =
        member.awaits == kAnybody || member.awaits == message.from;
    if (is_wanted && std::ranges::count(senders, message.from) == 0) {
      senders.push_back(message.from);
    }
  }
  return senders;
}

bool World::CanGoOn(int rank) {
  const Member& member = At(rank);
  if (member.has_ended) return false;
  return member.awaits == kNobody || !Answers(rank).empty();
}

/// To a rank that can go on; to one that takes anybody's message last of all, where
/// only answers are chosen.
void World::PassTurn() {
  std::vector<int> able;
  std::vector<int> last;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!CanGoOn(rank)) continue;
    const bool is_last =
        choices_->only_answers() && At(rank).awaits == kAnybody;
    (is_last ? last : able).push_back(rank);
  }
  if (able.empty()) able = last;
  if (able.empty()) return StopWhereAllWait();
  turn_ = able[choices_->only_answers() ? 0 : choices_->Choose(able.size())];
  At(turn_).wakes.notify_one();
}

void World::WaitForTurn(int rank, Lock& lock) {
  At(rank).wakes.wait(lock, [&] { return !failure_.ok() || turn_ == rank; });
}

void World::Begin(int rank) {
  Lock lock(mutex_);
  if (choices_ == nullptr) return;
  if (++begun_ == ranks()) PassTurn();
  WaitForTurn(rank, lock);
}

Status World::Send(int from, int to, std::span<const std::byte> bytes) {
  Lock lock(mutex_);
  if (!failure_.ok()) return failure_;
  At(to).came.push_back({from, {bytes.begin(), bytes.end()}});
  if (choices_ == nullptr) {
    At(to).wakes.notify_one();
    return OkStatus();
  }
  // Where only answers are chosen nobody sees when a message was sent.
  if (choices_->only_answers()) return OkStatus();
  PassTurn();
  WaitForTurn(from, lock);
  return failure_;
}

Result<Message> World::Receive(int from, int to) {
  Lock lock(mutex_);
  Member& member = At(to);
  member.awaits = from;
  if (choices_ != nullptr) {
    PassTurn();
    WaitForTurn(to, lock);
  } else {
    StopWhereAllWait();
    member.wakes.wait(lock,
                      [&] { return !failure_.ok() || !Answers(to).empty(); });
  }
  if (!failure_.ok()) return failure_;
  const std::vector<int> senders = Answers(to);
  const bool is_chosen = choices_ != nullptr && from == kAnybody;
  const int sender = senders[is_chosen ? choices_->Choose(senders.size()) : 0];
  const auto taken = std::ranges::find(member.came, sender, &Message::from);
  Message message = std::move(*taken);
  member.came.erase(taken);
  member.awaits = kNobody;
  return message;
}

void World::End(int rank, const Status& status) {
  const std::lock_guard lock(mutex_);
  At(rank).has_ended = true;
  if (!status.ok() && failed_.empty()) {
    failed_ = StrCat("rank ", rank, " failed: ", status.message());
  }
  if (choices_ == nullptr || !failure_.ok()) return StopWhereAllWait();
  PassTurn();
}

void World::Stop(const Status& failure) {
  failure_ = failure;
  for (Member& member : members_) member.wakes.notify_all();
}

void World::StopWhereAllWait() {
  if (!failure_.ok()) return;
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Member& member = At(rank);
    if (member.has_ended) continue;
    if (CanGoOn(rank)) return;
    std::string text = StrCat("rank ", rank, " waits for ");
    if (member.awaits == kAnybody) {
      text += "anybody";
    } else {
      text += StrCat("rank ", member.awaits);
      if (At(member.awaits).has_ended) text += ", which has ended";
    }
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return;
  const std::string waits = Joined(texts, "; ");
  Stop(failed_.empty() ? FailedPrecondition("ranks stand still: ", waits)
                       : Status(StatusCode::kCancelled, Reason::kNone,
                                StrCat(failed_, "; ", waits)));
}

class ThreadEndpoint : public Endpoint {
 public:
  ThreadEndpoint(World* world, int rank) : world_(*world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.ranks(); }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    ASSAY_RETURN_IF_ERROR(CheckRank(to));
    ASSAY_RETURN_IF_ERROR(CheckRank(from));
    if (to != kNobody) ASSAY_RETURN_IF_ERROR(world_.Send(rank_, to, out));
    if (from == kNobody) return OkStatus();
    return Receive(from, in).status();
  }

  Result<int> ReceiveAny(std::span<std::byte> in) override {
    return Receive(kAnybody, in);
  }

 private:
  Status CheckRank(int other) const {
    if (other == kNobody || (other >= 0 && other < size())) return OkStatus();
    return InvalidArgument("found the rank ", other, ", wanted one below ",
                           size());
  }

  /// From whom it came.
  Result<int> Receive(int from, std::span<std::byte> in) {
    ASSAY_ASSIGN_OR_RETURN(const Message came, world_.Receive(from, rank_));
    if (came.bytes.size() != in.size()) {
      return DataLoss("rank ", rank_, ": found ", came.bytes.size(),
                      " bytes from rank ", came.from, ", wanted ", in.size());
    }
    std::ranges::copy(came.bytes, in.begin());
    return came.from;
  }

  World& world_;
  const int rank_;
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
        ThreadEndpoint endpoint(&world, i);
        Status& status = ended[static_cast<size_t>(i)];
        status = rank(endpoint);
        world.End(i, status);
      });
    }
  }
  return ended;
}

}  // namespace assay::dist
