// SPDX-License-Identifier: Apache-2.0
//
// ThreadCalls: the collectives that a rank that is a thread has under way. Each
// is a schedule of messages; numbers of a reduction that does not commute are
// gathered, and combined in the order of ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {

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

}  // namespace assay::ranks
