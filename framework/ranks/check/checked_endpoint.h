// SPDX-License-Identifier: Apache-2.0
//
// CheckedEndpoint: looks at each call of a rank before it is made.
//
//   CheckedEndpoint checked(&board, mine);
//   ASSAY_RETURN_IF_ERROR(checked.Exchange(1, {}, kNobody, {}));

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/check/board.h"
#include "framework/ranks/forwarding.h"

namespace assay::ranks {

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

class CheckedEndpoint final : public ForwardingEndpoint {
 public:
  /// The board and the other endpoint live as long.
  CheckedEndpoint(Board* board, Endpoint& inner)
      : CheckedEndpoint(board, inner, nullptr, inner.rank(), "all",
                        std::make_shared<Held>()) {}

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;

 private:
  friend class CheckedPending;
  friend class CheckedNeighbors;

  CheckedEndpoint(Board* board, Endpoint& inner, std::unique_ptr<Endpoint> own,
                  int world_rank, std::string group, std::shared_ptr<Held> held)
      : ForwardingEndpoint(inner),
        board_(*board),
        own_(std::move(own)),
        world_rank_(world_rank),
        group_(std::move(group)),
        held_(std::move(held)) {}

  Status CheckMemory(const Held::Call& call);
  /// To the group's next collective, with the memory and the text of the call.
  Status Come(const Held::Call& call);

  Board& board_;
  const std::unique_ptr<Endpoint>
      own_;  // of a part of the ranks: the other one
  const int world_rank_;
  const std::string group_;
  const std::shared_ptr<Held> held_;
  int64_t collectives_ = 0;
};

}  // namespace assay::ranks
