// SPDX-License-Identifier: Apache-2.0
//
// SummedEndpoint: keeps a checksum of each message that a rank sends and
// receives. A message that arrives other than it was sent is then named with
// both of its ranks.
//
//   SummedEndpoint summed(mine);
//   ASSAY_RETURN_IF_ERROR(
//       RunCollective(what, Reduction::kSum, summed, &buffer));
//   Use(summed.sums());  // of all ranks: for CorruptMessage

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/forwarding.h"

namespace assay::ranks {

/// One end of a message between two ranks.
struct MessageSum {
  int32_t peer = kNobody;  // the other rank
  uint32_t sum = 0;        // CRC-32 of zlib
  uint64_t bytes = 0;
};

constexpr void EachField(MessageSum& sum, const auto& visit) {
  visit(sum.peer);
  visit(sum.sum);
  visit(sum.bytes);
}

/// A rank's first messages, in its order.
struct MessageSums {
  std::vector<MessageSum> sent, received;
};

/// Keeps the point-to-point messages of the whole communicator: none of
/// collectives, of neighbour collectives or of a communicator that Split gave.
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
