// SPDX-License-Identifier: Apache-2.0
//
// For tests of numbers that are to be the same in every bit.
//
//   EXPECT_TRUE(IsSame(found, wanted));

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::reference {

/// The same bits, or both no number.
inline bool IsSame(double x, double y) {
  return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

}  // namespace assay::reference
