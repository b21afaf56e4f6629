// SPDX-License-Identifier: Apache-2.0
//
// ShrinkSizes: the smallest numbers, as of ranks and of elements, with which a case
// fails, found by asking about few of them.
//
//   const auto fails = [](const std::vector<int64_t>& values) -> Result<bool> {
//     return values[0] >= 3 && values[1] >= 5;
//   };
//   ASSAY_ASSIGN_OR_RETURN(const SmallestSizes smallest,
//                          ShrinkSizes(extents, fails, /*budget=*/100));

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {

struct SmallestSizes {
  std::vector<int64_t> values;  // one of each extent
  int64_t asked = 0;
  /// False where the case fails at times: it passed when it was asked about
  /// first, or at its smallest when it was asked about once more.
  bool steady = true;
  bool spent = false;  // of the budget, before it was done
};

/// Whether the case fails, in the way that is looked for, with these values.
using FailsWith =
    std::function<Result<bool>(const std::vector<int64_t>& values)>;

/// Makes one extent after the other small, the first of them first, and all
/// again as long as that helps, at most three times: some faults need more
/// ranks than elements. Of an extent it asks about the four least values, and
/// then halves what is between one that passes and one that fails. The last
/// values are asked about twice. With one value less of an extent, the others
/// as they are, the case does not fail, unless the third round still helped or
/// the budget was spent. Never asks more often than MostAsked, nor than
/// `budget` where that is above 1.
Result<SmallestSizes> ShrinkSizes(std::span<const suite::Extent> extents,
                                  const FailsWith& fails, int64_t budget);

/// 2 + 3 sum(4 + ceil(log2 n)), over extents of n values: three rounds, and the
/// first and the last question.
int64_t MostAsked(std::span<const suite::Extent> extents);

}  // namespace assay::repro
