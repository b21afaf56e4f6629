// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/threads.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "framework/core/text.h"

namespace assay::dist {
namespace {

using Message = std::vector<std::byte>;

/// What all ranks share. A message has room until it is received.
class World {
 public:
  explicit World(int ranks)
      : ranks_(ranks),
        waits_for_(static_cast<size_t>(ranks), kNobody),
        has_ended_(static_cast<size_t>(ranks)),
        came_(static_cast<size_t>(ranks)),
        running_(ranks) {}

  int ranks() const { return ranks_; }

  Status Send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    under_way_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    came_[static_cast<size_t>(to)].notify_one();
    return OkStatus();
  }

  Result<Message> Receive(int from, int to);

  /// A rank has returned.
  void End(int rank, const Status& status) {
    const std::lock_guard lock(mutex_);
    has_ended_[static_cast<size_t>(rank)] = true;
    --running_;
    if (!status.ok() && failure_.ok()) {
      Stop({StatusCode::kCancelled, Reason::kNone,
            StrCat("rank ", rank, " failed: ", status.message())});
    }
    StopWhereAllWait();
  }

 private:
  bool HasMessage(int from, int to) const {
    const auto way = under_way_.find({from, to});
    return way != under_way_.end() && !way->second.empty();
  }
  void Stop(const Status& failure) {
    failure_ = failure;
    for (std::condition_variable& came : came_) came.notify_all();
  }
  void StopWhereAllWait();

  const int ranks_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::deque<Message>> under_way_;
  std::vector<int> waits_for_;
  std::vector<bool> has_ended_;
  std::vector<std::condition_variable> came_;
  int running_;
  Status failure_;
};

void World::StopWhereAllWait() {
  if (running_ == 0 || !failure_.ok()) return;
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks_; ++rank) {
    const int other = waits_for_[static_cast<size_t>(rank)];
    if (has_ended_[static_cast<size_t>(rank)]) continue;
    if (other == kNobody || HasMessage(other, rank)) return;
    texts.push_back(StrCat(
        "rank ", rank, " waits for rank ", other,
        has_ended_[static_cast<size_t>(other)] ? ", which has ended" : ""));
  }
  Stop(FailedPrecondition("ranks stand still: ", Joined(texts, "; ")));
}

Result<Message> World::Receive(int from, int to) {
  std::unique_lock lock(mutex_);
  int& waits_for = waits_for_[static_cast<size_t>(to)];
  waits_for = from;
  StopWhereAllWait();
  came_[static_cast<size_t>(to)].wait(
      lock, [&] { return !failure_.ok() || HasMessage(from, to); });
  waits_for = kNobody;
  if (!failure_.ok()) return failure_;
  std::deque<Message>& way = under_way_[{from, to}];
  Message message = std::move(way.front());
  way.pop_front();
  return message;
}

class ThreadEndpoint : public Endpoint {
 public:
  ThreadEndpoint(World* world, int rank) : world_(*world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.ranks(); }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    for (const int other : {to, from}) {
      if (other == kNobody || (other >= 0 && other < size())) continue;
      return InvalidArgument("found the rank ", other, ", wanted one below ",
                             size());
    }
    if (to != kNobody) ASSAY_RETURN_IF_ERROR(world_.Send(rank_, to, out));
    if (from == kNobody) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const Message came, world_.Receive(from, rank_));
    if (came.size() != in.size()) {
      return DataLoss("rank ", rank_, ": found ", came.size(),
                      " bytes from rank ", from, ", wanted ", in.size());
    }
    std::ranges::copy(came, in.begin());
    return OkStatus();
  }

 private:
  World& world_;
  const int rank_;
};

}  // namespace

std::vector<Status> RunThreads(int ranks,
                               const std::function<Status(Endpoint&)>& rank) {
  const int count = std::max(0, ranks);
  World world(count);
  std::vector<Status> ended(static_cast<size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
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
