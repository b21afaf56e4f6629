// SPDX-License-Identifier: Apache-2.0
//
// Straggler: the rank that the others wait for, out of how long each has waited.
//
//   const std::array<int64_t, 3> waited_us = {5200, 100, 5000};
//   const Straggler found = StragglerOf(waited_us);
//   // found.rank == 1, found.late_us == 4900

#pragma once

#include <cstdint>
#include <span>

#include "framework/backend/communicator.h"

namespace assay::ranks {

struct Straggler {
  int rank = kNobody;
  int64_t late_us = 0;  // each of the others has waited so much longer, or more
};

/// The rank that has waited least: who comes last waits for nobody. Nobody where two have
/// waited as little, and of fewer than two ranks.
Straggler StragglerOf(std::span<const int64_t> waited_us);

}  // namespace assay::ranks
