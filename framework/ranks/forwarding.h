// SPDX-License-Identifier: Apache-2.0
//
// ForwardingEndpoint: passes every call on to another endpoint. An endpoint
// that changes or watches some of a rank's calls derives from it.
//
//   class Silent : public ForwardingEndpoint {
//    public:
//     using ForwardingEndpoint::ForwardingEndpoint;
//     Result<int> ReceiveAny(std::span<std::byte>) override {
//       return FailedPrecondition("nobody sends");
//     }
//   };

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

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

 protected:
  Endpoint& inner_;
};

}  // namespace assay::ranks
