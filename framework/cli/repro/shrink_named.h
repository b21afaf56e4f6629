// SPDX-License-Identifier: Apache-2.0
//
// Shrinking of a case that its name makes, as one of ranks: to the fewest
// ranks, steps and elements with which it fails in the same way.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/cli/repro/shrink_judge.h"
#include "framework/core/status.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {

/// Says, and writes to options.out, the smallest case and the command that runs
/// it. Each candidate runs alone in a worker; ranks that are processes have a
/// launch of their own. One counts where it fails as the case does, and passes
/// on the instance that is right (suite::Sizing), unless the case itself fails
/// there. Invalid argument for a case that does not fail, or not when it runs
/// again, or that the backend does not support.
Status ShrinkByName(const cli::ShrinkOptions& options,
                    const select::ChosenCase& chosen,
                    const suite::Sizing& sizing, const ShrinkJudge::Say& say);

struct SmallestSizes {
  std::vector<int64_t> values;  // one of each extent
  int64_t asked = 0;
  /// False where the case fails at times: it passed when it was asked about
  /// first, or at its smallest when it was asked about once more.
  bool steady = true;
  bool spent = false;  // of the budget, before it was done
};

/// True when the case fails, in the way that is looked for, with these values.
using FailsWith =
    std::function<Result<bool>(const std::vector<int64_t>& values)>;

/// Makes one extent after the other small, the first of them first, and all
/// again as long as that helps, at most three times: some faults need more
/// ranks than elements. It asks about the four least values of an extent, and
/// then halves the range between one that passes and one that fails. The last
/// values are asked about twice. With one value less of an extent, the others
/// as they are, the case does not fail, unless the third round still helped or
/// the budget was spent. Over extents of n values it never asks more often than
/// 2 + 3 sum(4 + ceil(log2 n)), nor than `budget` where that is above 1.
Result<SmallestSizes> ShrinkSizes(std::span<const suite::Extent> extents,
                                  const FailsWith& fails, int64_t budget);

}  // namespace assay::repro
