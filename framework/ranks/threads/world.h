// SPDX-License-Identifier: Apache-2.0
//
// World: what ranks that are threads share. A message has room until it is received.
//
//   World world(/*ranks=*/8, /*choices=*/nullptr);
//   ASSAY_RETURN_IF_ERROR(world.Send({}, /*from=*/1, /*to=*/0, bytes));
//   ASSAY_ASSIGN_OR_RETURN(const Message came, world.Receive({{1, {}}}, 0));

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/threads/choices.h"

namespace assay::ranks {

/// Messages of two channels do not meet.
struct Channel {
  int64_t group = 0;  // of ranks; 0: all
  int64_t call =
      0;  // the collective of the group; 0: messages of no collective

  friend bool operator==(const Channel&, const Channel&) = default;
};

struct Message {
  int from = kNobody;
  Channel channel;
  std::vector<std::byte> bytes;
};

struct Wanted {
  int from = kNobody;  // or anybody
  Channel channel;

  bool Matches(const Message& message) const {
    return channel == message.channel &&
           (from == kAnybody || from == message.from);
  }
};

/// Ranks are those of the world, whatever their numbers in a group.
class World {
 public:
  World(int ranks, Choices* choices)
      : choices_(choices), members_(static_cast<size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(members_.size()); }

  /// A rank's first turn.
  void Begin(int rank);
  Status Send(Channel channel, int from, int to,
              std::span<const std::byte> bytes);
  /// Waits for a message that is one of those wanted, of which there is one at least.
  Result<Message> Receive(const std::vector<Wanted>& wanted, int to);
  /// One that is there.
  std::optional<Message> ReceiveNow(const Wanted& wanted, int to);
  /// A rank has returned.
  void End(int rank, const Status& status);

  /// The messages that the world took from a rank, those of collectives among them.
  Traffic SentBy(int rank);

  /// A number that no group has.
  int64_t NewGroup();

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// What the world knows of a rank.
  struct Member {
    std::deque<Message> came;  // in the order of their sending
    Traffic sent;
    std::vector<Wanted> awaits;  // empty: nothing
    bool has_ended = false;
    std::condition_variable wakes;

    bool AwaitsAnybody() const;
  };

  Member& At(int rank) { return members_[static_cast<size_t>(rank)]; }
  /// Of each channel and sender the first message that could be taken.
  std::vector<size_t> Answers(int rank);
  bool CanGoOn(int rank);
  void PassTurn();
  void WaitForTurn(int rank, Lock& lock);
  void Stop(const Status& failure);
  void StopWhereAllWait();
  std::string WaitText(int rank);

  std::mutex mutex_;
  Choices* const choices_;
  std::vector<Member> members_;
  int turn_ = kNobody;
  int begun_ = 0;
  int64_t groups_ = 0;
  std::string failed_;  // the first rank that did
  Status failure_;      // what those get that wait
};

}  // namespace assay::ranks
