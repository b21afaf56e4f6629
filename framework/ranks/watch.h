// SPDX-License-Identifier: Apache-2.0
//
// WatchedEndpoint: counts the messages that a rank asks its library to send.
//
//   WatchedEndpoint watched(mine);
//   ASSAY_RETURN_IF_ERROR(
//       RunCollective(what, Reduction::kSum, watched, &buffer));
//   const Traffic sent = watched.sent();

#pragma once

#include <cstddef>
#include <span>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/forwarding.h"

namespace assay::ranks {

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

}  // namespace assay::ranks
