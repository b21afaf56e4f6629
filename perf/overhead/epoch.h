// SPDX-License-Identifier: Apache-2.0
//
// Epochs of training by hand and by Train, without events and with every one:
// the table 6.1 of the Deep500 thesis, in pairs.
//
//   ASSAY_ASSIGN_OR_RETURN(auto epochs, overhead::Epochs::Make(backend, ""));
//   for (const overhead::Pair& pair : epochs->pairs()) {
//     const auto row = overhead::TimePair(pair, {.ns = 30'000'000'000},
//                                         timing::SteadyNow);
//   }
//
// By hand is a loop over a bound network that copies a batch into its inputs,
// runs it forward and backward and moves the parameters, in some 30 lines.
// A third pair has the epochs of a peer, another framework, in their place.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "perf/overhead/pair.h"

namespace assay::overhead {

class Epochs {
 public:
  /// LeNet-5 on 63 batches of 64 drawn images, with momentum; `peer` is the
  /// file of one (libtorch_peer.h), or empty. The backend outlives it. As the
  /// backend declines the network; failed precondition where an epoch by hand
  /// leaves other parameters than one of Train; unavailable for a peer that
  /// cannot be loaded.
  static Result<std::unique_ptr<Epochs>> Make(Backend& backend,
                                              const std::string& peer);
  virtual ~Epochs() = default;

  /// A call is an epoch.
  virtual std::vector<Pair> pairs() = 0;
};

}  // namespace assay::overhead
