// SPDX-License-Identifier: Apache-2.0
//
// DelayedEndpoint: a rank that comes late to its calls, by delays that a seed gives. What
// ranks end with must not depend on it.
//
//   const Delays delays{.seed = 7, .fraction = 0.25, .straggler = 2, .most_us = 500};
//   ASSAY_ASSIGN_OR_RETURN(const auto late, DelayedEndpoint::Of(mine, delays));
//   ASSAY_RETURN_IF_ERROR(late->Exchange(1, {}, kNobody, {}));

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/ranks/forwarding.h"

namespace assay::ranks {

/// How long a call is delayed that is.
enum class DelayLaw : uint8_t {
  kConstant,     // the longest delay
  kUniform,      // below the longest, each as likely
  kExponential,  // of a mean of a fifth of the longest, which cuts it
};

struct Delays {
  uint64_t seed = 0;
  double fraction = 0;      // of the calls of each rank, from 0 to 1
  int straggler = kNobody;  // whose calls are all delayed
  DelayLaw law = DelayLaw::kUniform;
  int64_t most_us = 0;  // the longest delay, 100,000 at most
};

/// Of a rank's call, from 1: 0 where it is not delayed. The same each time.
int64_t DelayOf(const Delays& delays, int rank, int64_t call);

/// How a rank waits for so many microseconds.
using Sleeper = std::function<void(int64_t)>;
void Sleep(int64_t us);

class DelayedEndpoint final : public ForwardingEndpoint {
 public:
  /// Invalid argument for a fraction or a longest delay that cannot be, and for a straggler
  /// that is no rank. The other endpoint lives as long.
  static Result<std::unique_ptr<DelayedEndpoint>> Of(Endpoint& inner,
                                                     const Delays& delays,
                                                     Sleeper sleep = Sleep);

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  /// The part goes on with this one's calls.
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;

 private:
  class LateNeighbors;

  /// A rank's calls, of all its groups.
  struct Calls {
    const Delays delays;
    const int rank;
    const Sleeper sleep;
    int64_t number = 0;

    void Next();
  };

  DelayedEndpoint(Endpoint& inner, std::unique_ptr<Endpoint> own,
                  std::shared_ptr<Calls> calls)
      : ForwardingEndpoint(inner),
        own_(std::move(own)),
        calls_(std::move(calls)) {}

  const std::unique_ptr<Endpoint>
      own_;  // of a part of the ranks: the other one
  const std::shared_ptr<Calls> calls_;
};

}  // namespace assay::ranks
