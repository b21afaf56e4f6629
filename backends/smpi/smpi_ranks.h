// SPDX-License-Identifier: Apache-2.0
//
// SmpiRanks: ranks of the simulated machine.
//
//   Status Greet(Endpoint& mine);  // what each rank does
//   SmpiRanks ranks;
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<RankEnd> ended,
//                          ranks.Run(1024, Greet));

#pragma once

#include <functional>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::smpi {

/// For the thread that calls Run first.
class SmpiRanks final : public Ranks {
 public:
  /// Ranks that nobody can answer end with failed precondition and who waits
  /// for what, or, where a rank failed, cancelled.
  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override;
};

}  // namespace assay::smpi
