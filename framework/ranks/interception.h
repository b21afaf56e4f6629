// SPDX-License-Identifier: Apache-2.0
//
// Endpoints around another one. ForwardingEndpoint is the base of all that
// change or watch some of a rank's calls: WatchedEndpoint counts messages, and
// SummedEndpoint keeps their checksums.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/fields.h"

namespace assay::ranks {

class ForwardingEndpoint : public Endpoint {
 public:
  /// `inner` must outlive this.
  explicit ForwardingEndpoint(Endpoint& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    return inner_.Exchange(to, out, from, in);
  }
  Result<int> ReceiveAny(std::span<std::byte> in) override {
    return inner_.ReceiveAny(in);
  }
  Status Collect(const CollectiveCall& call) override {
    return inner_.Collect(call);
  }
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override {
    return inner_.Start(call);
  }
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override {
    return inner_.Split(color, key);
  }
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override {
    return inner_.Connect(to, from);
  }
  Result<Counted> counted() const override { return inner_.counted(); }
  std::optional<double> simulated_seconds() const override {
    return inner_.simulated_seconds();
  }
  const void* native_handle() const override { return inner_.native_handle(); }
  bool has(Reduction reduction) const override { return inner_.has(reduction); }

 protected:
  Endpoint& inner_;
};

/// Counts the point-to-point messages to other ranks that succeeded. Messages
/// inside the library's own collectives are not counted.
class WatchedEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;

  const Traffic& sent() const { return sent_; }

 private:
  Traffic sent_;
};

struct MessageSum {
  int32_t peer = kNobody;  // the other rank
  uint32_t sum = 0;        // CRC-32 of zlib
  uint64_t bytes = 0;
};

constexpr void EachField(MessageSum& sum, const auto& visit) {
  VisitEach(visit, sum.peer, sum.sum, sum.bytes);
}

/// A rank's first messages, in its order.
struct MessageSums {
  std::vector<MessageSum> sent, received;
};

/// Keeps a checksum of each point-to-point message of the whole communicator:
/// none of collectives, of neighbour collectives or of a communicator that
/// Split gave.
class SummedEndpoint final : public ForwardingEndpoint {
 public:
  /// The most messages that are kept of each direction.
  static constexpr size_t kMost = 256;

  using ForwardingEndpoint::ForwardingEndpoint;

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;

  const MessageSums& sums() const { return sums_; }

 private:
  MessageSums sums_;
};

/// Compares the two ends of each message, and describes the first one, by
/// receiving rank, that differ: "rank 1 received message 3 from rank 0 other
/// than it was sent: found 8 bytes with the checksum 5, wanted 8 with 7". Empty
/// where the ends of all messages agree that both ranks kept. Messages between
/// two ranks keep their order.
std::string CorruptMessage(std::span<const MessageSums> ranks);

}  // namespace assay::ranks
