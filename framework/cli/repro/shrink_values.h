// SPDX-License-Identifier: Apache-2.0
//
// Fewer elements and plainer values: steps of shrinking, each of which returns
// a smaller draft that still fails, or nothing.

#pragma once

#include <optional>

#include "framework/cli/repro/shrink_judge.h"
#include "framework/core/status.h"

namespace assay::repro {

/// An axis, or axes of the same extent, cut to one entry or to half.
Result<std::optional<Draft>> ShrinkShapes(const Draft& draft,
                                          ShrinkJudge& judge);

/// Values that are all zero, all one, or small integers.
Result<std::optional<Draft>> ShrinkValues(const Draft& draft,
                                          ShrinkJudge& judge);

}  // namespace assay::repro
