// SPDX-License-Identifier: Apache-2.0
//
// WatchedEndpoint: counts what a rank is asked to send, and keeps its last exchanges for who
// asks why it stands still.
//
//   WatchedEndpoint watched(mine);
//   ASSAY_RETURN_IF_ERROR(
//       RunCollective(what, Reduction::kSum, watched, &buffer));
//   const Traffic sent = watched.sent();

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/forwarding.h"

namespace assay::ranks {

/// Another thread may ask while the rank is in an exchange. What collectives of the library
/// send is its own business, and not counted.
class WatchedEndpoint : public ForwardingEndpoint {
 public:
  /// Keeps the last `kept` exchanges. The other endpoint lives as long.
  explicit WatchedEndpoint(Endpoint& inner, size_t kept = 16)
      : ForwardingEndpoint(inner), kept_(kept) {}

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;

  Traffic sent() const;
  /// A line for each, the last one last: "7: 4 bytes to 1, 4 bytes from 3: done".
  std::vector<std::string> Last() const;

 private:
  /// An exchange.
  struct Seen {
    int to = kNobody, from = kNobody;  // or anybody
    size_t out = 0, in = 0;
    int64_t number = 0;
    const char* state = "open";
  };

  void Open(const Seen& seen);
  void Close(const Status& status);

  const size_t kept_;
  mutable std::mutex mutex_;
  Traffic sent_;
  int64_t calls_ = 0;
  std::deque<Seen> last_;
};

}  // namespace assay::ranks
