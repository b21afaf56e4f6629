// SPDX-License-Identifier: Apache-2.0
//
// CheckedEndpoint: looks at each call of a rank before it is made.
//
//   CheckedEndpoint mine(&board, endpoint, /*is_synchronous=*/true);
//   ASSAY_RETURN_IF_ERROR(mine.Begin());

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/dist/check/board.h"

namespace assay::dist {

class CheckedPending;

/// Memory that calls under way have.
class Held {
 public:
  struct Call {
    std::span<const std::byte> in;
    std::span<const std::byte> out;
    std::string text;
  };

  void Add(const CheckedPending* owner, Call call);
  void Remove(const CheckedPending* owner);
  /// The text of one that writes where the other call reads or writes, or reads where it
  /// writes; empty: there is none.
  std::string Meets(const Call& other) const;

 private:
  struct Owned {
    const CheckedPending* owner;
    Call call;
  };
  std::vector<Owned> calls_;
};

class CheckedEndpoint final : public Endpoint {
 public:
  /// Synchronous: a message is sent only when it is received, as MPI may do. The board and
  /// the endpoint live as long.
  CheckedEndpoint(Board* board, Endpoint& inner, bool is_synchronous)
      : CheckedEndpoint(board, inner, is_synchronous, inner.rank(), "all",
                        std::make_shared<Held>()) {}

  /// Before the first call. All ranks call it.
  Status Begin();

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;
  Result<Counted> counted() const override { return inner_.counted(); }
  std::optional<double> simulated_seconds() const override {
    return inner_.simulated_seconds();
  }
  const void* native_handle() const override { return inner_.native_handle(); }

 private:
  friend class CheckedPending;
  friend class CheckedNeighbors;

  CheckedEndpoint(Board* board, Endpoint& inner, bool is_synchronous,
                  int world_rank, std::string group, std::shared_ptr<Held> held)
      : board_(*board),
        inner_(inner),
        is_synchronous_(is_synchronous),
        world_rank_(world_rank),
        group_(std::move(group)),
        held_(std::move(held)) {}

  /// Notes the call, and that the rank is out of it where it went well.
  Status In(std::string call, const std::function<Status()>& run);
  Status CheckMemory(const Held::Call& call);
  /// To the group's next collective, with the memory and the text of the call.
  Status Come(const Held::Call& call);
  Status Acknowledge(int from);
  Status AwaitAcknowledgement(int to);

  Board& board_;
  Endpoint& inner_;
  const bool is_synchronous_;
  const int world_rank_;
  const std::string group_;
  const std::shared_ptr<Held> held_;
  std::unique_ptr<Endpoint> own_;   // where this one is of a part of the ranks
  std::unique_ptr<Endpoint> acks_;  // the same ranks once more
  int64_t collectives_ = 0;
};

}  // namespace assay::dist
