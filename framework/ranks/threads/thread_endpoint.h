// SPDX-License-Identifier: Apache-2.0
//
// ThreadEndpoint: the communicator of a rank that is a thread.
//
//   ThreadCalls calls(&world, rank);
//   ThreadEndpoint all(&world, &calls, rank);

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/threads/thread_call.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {

class ThreadEndpoint final : public Endpoint {
 public:
  /// The communicator of all ranks. World and calls must outlive this.
  ThreadEndpoint(World* world, ThreadCalls* calls, int rank);
  /// The communicator of some ranks.
  ThreadEndpoint(World* world, ThreadCalls* calls, ThreadGroup group,
                 int64_t number);

  int rank() const override { return group_.rank; }
  int size() const override { return static_cast<int>(group_.members.size()); }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;

  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;
  Result<Counted> counted() const override;

 private:
  int world_rank() const {
    return group_.members[static_cast<size_t>(group_.rank)];
  }
  Status CheckRank(int other) const;
  /// Receives a message from a rank of the group, or from anybody, and returns
  /// its sender.
  Result<int> Receive(int from, std::span<std::byte> in);

  World& world_;
  ThreadCalls& calls_;
  const ThreadGroup group_;
  const int64_t number_;  // of the group
  int64_t started_ = 0;   // collectives
};

}  // namespace assay::ranks
