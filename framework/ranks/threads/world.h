// SPDX-License-Identifier: Apache-2.0
//
// World: the state that ranks that are threads share. A message is buffered
// until it is received. Choices decide which rank goes on and which message is
// taken, where several could: a run with the same choices is the same run.

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
#include "framework/core/numbers.h"
#include "framework/core/status.h"

namespace assay::ranks {

class Choices {
 public:
  virtual ~Choices() = default;
  /// True for choices of answers alone: ranks go on in any order, and a receive
  /// from anybody waits until no other rank can send. Then only two things are
  /// chosen: which of the ranks that wait so is answered first, and with which
  /// message. Nothing else can be observed, since messages between two ranks
  /// keep their order (S. Vakkalanka, G. Gopalakrishnan, R. Kirby, "Dynamic
  /// verification of MPI programs with reductions in presence of split
  /// operations and relaxed orderings", 2008).
  virtual bool only_answers() const = 0;
  /// A number from 0 to `options` - 1; `options` is 1 or more.
  virtual size_t Choose(size_t options) = 0;
};

/// Draws every choice from a seed.
class DrawnChoices : public Choices {
 public:
  explicit DrawnChoices(uint64_t seed) : drawn_(seed) {}
  bool only_answers() const override { return false; }
  size_t Choose(size_t options) override { return drawn_.Below(options); }

 private:
  core::Numbers drawn_;
};

/// Goes through all combinations of answers, one a run.
class ListedChoices : public Choices {
 public:
  bool only_answers() const override { return true; }
  size_t Choose(size_t options) override;
  /// Goes to the next combination, after a run. False where all have been.
  bool GoOn();

 private:
  struct Choice {
    size_t taken, options;
  };
  std::vector<Choice> way_;
  size_t at_ = 0;
};

/// A message is received on the channel that it was sent on alone.
struct Channel {
  int64_t group = 0;  // 0: all ranks
  int64_t call = 0;  // number of the collective in the group; 0: point-to-point

  friend bool operator==(const Channel&, const Channel&) = default;
};

struct Message {
  int from = kNobody;
  Channel channel;
  std::vector<std::byte> bytes;
};

struct Wanted {
  int from = kNobody;  // or kAnybody
  Channel channel;

  bool Matches(const Message& message) const {
    return channel == message.channel &&
           (from == kAnybody || from == message.from);
  }
};

/// Ranks are numbered as in the world, whatever their numbers in a group.
class World {
 public:
  World(int ranks, Choices* choices)
      : choices_(choices), members_(static_cast<size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(members_.size()); }

  /// A rank waits for its first turn.
  void Begin(int rank);
  Status Send(Channel channel, int from, int to,
              std::span<const std::byte> bytes);
  /// Waits for a message that matches one of `wanted`, which is not empty.
  Result<Message> Receive(const std::vector<Wanted>& wanted, int to);
  /// A message that has arrived already; nothing where none has.
  std::optional<Message> ReceiveNow(const Wanted& wanted, int to);
  /// A rank has returned `status`. One that failed ends those that wait.
  void End(int rank, const Status& status);

  /// The traffic that a rank has sent, that of collectives included.
  Traffic SentBy(int rank);

  int64_t NewGroup();

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Member {
    std::deque<Message> came;  // in the order of sending
    Traffic sent;
    std::vector<Wanted> awaits;  // empty: it does not wait
    bool has_ended = false;
    std::condition_variable wakes;

    bool AwaitsAnybody() const;
  };

  Member& At(int rank) { return members_[static_cast<size_t>(rank)]; }
  /// By channel and sender, the first message that the rank could take.
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
  std::string failed_;  // the first rank that failed
  Status failure_;      // what ranks that wait get
};

}  // namespace assay::ranks
