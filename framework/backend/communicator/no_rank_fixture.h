// SPDX-License-Identifier: Apache-2.0
//
// NoRank: ranks for tests, of which none runs.

#pragma once

#include <functional>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::communicator {

class NoRank final : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>&) override {
    return std::vector<RankEnd>();
  }
};

}  // namespace assay::communicator
