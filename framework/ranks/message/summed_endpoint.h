// SPDX-License-Identifier: Apache-2.0
//
// SummedEndpoint: keeps a checksum of each message that a rank sends and receives, so that
// one that comes other than it was sent is named with both ranks.
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

/// A message between two ranks, as one of them had it. It goes to who compares as its bytes.
struct MessageSum {
  int32_t peer = kNobody;  // the other rank
  uint32_t sum = 0;        // CRC-32, as zlib has it
  uint64_t bytes = 0;
};

/// The first messages of a rank, in its order.
struct MessageSums {
  std::vector<MessageSum> sent, received;
};

/// Those of collectives, of exchanges with neighbors and of a part of the ranks are not
/// among them.
class SummedEndpoint final : public ForwardingEndpoint {
 public:
  /// Messages that are kept, of those that are sent and of those that are received.
  static constexpr size_t kMost = 256;

  using ForwardingEndpoint::ForwardingEndpoint;

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;

  const MessageSums& sums() const { return sums_; }

 private:
  MessageSums sums_;
};

/// The first message, by the rank that has received it, that came other than it was sent:
/// "rank 1 received message 3 from rank 0 other than it was sent: found 8 bytes with the
/// checksum 5, wanted 8 with 7". Empty where there is none among those that both ranks kept.
/// Between two ranks messages keep their order.
std::string CorruptMessage(std::span<const MessageSums> ranks);

}  // namespace assay::ranks
