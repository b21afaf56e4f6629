// SPDX-License-Identifier: Apache-2.0
//
// ThreadCalls: the collectives that a rank has under way, of all its groups. They go on
// while the rank waits for one of them, or for a message.
//
//   ThreadCalls calls(&world, /*rank=*/0);
//   ASSAY_ASSIGN_OR_RETURN(auto pending, calls.Start(group, channel, call));
//   ASSAY_RETURN_IF_ERROR(pending->Wait());

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {

/// Ranks among themselves.
struct ThreadGroup {
  std::vector<int> members;  // of the world, by their ranks here
  int rank = 0;              // one's own here
};

class ThreadCall;

class ThreadCalls {
 public:
  /// `rank` is that of the world, which lives as long.
  ThreadCalls(World* world, int rank) : world_(*world), rank_(rank) {}

  /// Begins a collective, which no other one shares the channel with. Invalid argument
  /// for memory of another size than the collective's, unsupported as Combine. Nothing of
  /// it outlives these calls.
  Result<std::unique_ptr<Pending>> Start(const ThreadGroup& group,
                                         Channel channel,
                                         const CollectiveCall& call);

  /// Waits for a message of no collective. Those under way go on.
  Result<Message> Receive(const Wanted& wanted);

 private:
  friend class ThreadCall;

  /// Until the call is done: all go on as messages come.
  Status WaitFor(const ThreadCall& call);
  /// Takes a message that a collective wants, or the other one, which it returns.
  Result<std::optional<Message>> GoOn(const std::optional<Wanted>& other);
  void Forget(const ThreadCall* call) { std::erase(under_way_, call); }

  World& world_;
  const int rank_;
  std::vector<ThreadCall*> under_way_;
};

}  // namespace assay::ranks
