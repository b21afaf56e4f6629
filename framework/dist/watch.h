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
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/dist/endpoint.h"

namespace assay::dist {

/// Another thread may ask while the rank is in an exchange.
class WatchedEndpoint : public Endpoint {
 public:
  /// Keeps the last `kept` exchanges. The other endpoint lives as long.
  explicit WatchedEndpoint(Endpoint& inner, size_t kept = 16)
      : inner_(inner), kept_(kept) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  // What these send is the library's business, and not counted.
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

  Endpoint& inner_;
  const size_t kept_;
  mutable std::mutex mutex_;
  Traffic sent_;
  int64_t calls_ = 0;
  std::deque<Seen> last_;
};

}  // namespace assay::dist
