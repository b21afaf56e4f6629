// SPDX-License-Identifier: Apache-2.0
//
// NotedEndpoint: writes into a table which call the rank is in, and since when.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/wait/call_table.h"

namespace assay::ranks {

/// Microseconds since any epoch that all ranks of a table share. Null: calls
/// have no start.
using MicrosecondClock = std::function<int64_t()>;

/// A rank's row of a table, which must outlive this. For one thread at a time.
class RankNote {
 public:
  RankNote(CallTable* table, int rank, int64_t run, MicrosecondClock clock);

  /// Runs `make`, and writes that the rank is in `call` until it returns. A
  /// call that failed stays in the row, so that a report can name it.
  Status During(const RankCall& call, const std::function<Status()>& make);
  /// Counts one more collective or split of the group, and returns its number.
  int64_t NextCollective(uint64_t group);
  /// Adds a communicator that Split gave.
  void Join(uint64_t group, int rank);
  void End();

 private:
  CallTable& table_;
  const int rank_;
  const MicrosecondClock clock_;
  RankState state_;
  size_t joined_ = 0;
};

class NotedEndpoint final : public ForwardingEndpoint {
 public:
  /// The communicator of all ranks in run number `run`. Table and `inner` must
  /// outlive this.
  NotedEndpoint(Endpoint& inner, CallTable* table, int64_t run = 1,
                MicrosecondClock clock = nullptr)
      : NotedEndpoint(inner, nullptr,
                      std::make_shared<RankNote>(table, inner.rank(), run,
                                                 std::move(clock)),
                      kAllRanks) {}

  /// The rank has ended without an error.
  void End() { note_->End(); }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;

 private:
  NotedEndpoint(Endpoint& inner, std::unique_ptr<Endpoint> own,
                std::shared_ptr<RankNote> note, uint64_t group)
      : ForwardingEndpoint(inner),
        own_(std::move(own)),
        note_(std::move(note)),
        group_(group) {}

  Status Note(RankCall call, const std::function<Status()>& make) const;

  const std::unique_ptr<Endpoint> own_;  // the communicator that Split gave
  const std::shared_ptr<RankNote> note_;
  const uint64_t group_;
};

}  // namespace assay::ranks
