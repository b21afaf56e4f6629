// SPDX-License-Identifier: Apache-2.0
//
// ThreadNeighbors: the neighbour collectives of a rank that is a thread.
//
//   const Channel channel = {.group = 0, .call = 7};
//   ThreadNeighbors neighbors(&world, &calls, group, channel, {1, 3}, {3, 1});
//   ASSAY_RETURN_IF_ERROR(neighbors.Exchange(out, in));

#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/threads/thread_call.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {

class ThreadNeighbors final : public Neighbors {
 public:
  /// Neighbours are ranks of the group. The channel is theirs alone; world and
  /// calls must outlive this.
  ThreadNeighbors(World* world, ThreadCalls* calls, ThreadGroup group,
                  Channel channel, std::vector<int> to, std::vector<int> from)
      : world_(*world),
        calls_(*calls),
        group_(std::move(group)),
        channel_(channel),
        to_(std::move(to)),
        from_(std::move(from)) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override;

 private:
  int MemberOf(int rank) const {
    return group_.members[static_cast<size_t>(rank)];
  }

  World& world_;
  ThreadCalls& calls_;
  const ThreadGroup group_;
  const Channel channel_;
  const std::vector<int> to_, from_;
};

}  // namespace assay::ranks
