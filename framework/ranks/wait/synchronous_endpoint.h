// SPDX-License-Identifier: Apache-2.0
//
// SynchronousEndpoint: a message is sent only when it is received, as an MPI may do that has
// no room for it. A program that counts on room stands still.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto synchronous, SynchronousEndpoint::Of(mine));
//   ASSAY_RETURN_IF_ERROR(synchronous->Exchange(1, {}, kNobody, {}));

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/forwarding.h"

namespace assay::ranks {

class SynchronousEndpoint final : public ForwardingEndpoint {
 public:
  /// All ranks call it, and have it all. Each message has an empty one that goes back, in a
  /// group of its own. As Split declines. The other endpoint lives as long.
  static Result<std::unique_ptr<SynchronousEndpoint>> Of(Endpoint& inner) {
    return Of(inner, nullptr);
  }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;

 private:
  static Result<std::unique_ptr<SynchronousEndpoint>> Of(
      Endpoint& inner, std::unique_ptr<Endpoint> own);
  SynchronousEndpoint(Endpoint& inner, std::unique_ptr<Endpoint> own,
                      std::unique_ptr<Endpoint> acks)
      : ForwardingEndpoint(inner),
        own_(std::move(own)),
        acks_(std::move(acks)) {}

  Status Acknowledge(int from);
  Status AwaitAcknowledgement(int to);

  const std::unique_ptr<Endpoint>
      own_;  // of a part of the ranks: the other one
  const std::unique_ptr<Endpoint> acks_;  // the same ranks once more
};

}  // namespace assay::ranks
