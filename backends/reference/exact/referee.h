// SPDX-License-Identifier: Apache-2.0
//
// A derivative from values alone, with a bound: central differences at steps
// that halve, extrapolated (Richardson; the tableau of Ridders, Advances in
// Engineering Software 4, 1982), where each entry carries what rounding of the
// values can have done to it beside what its neighbours say of it.
//
//   ASSAY_ASSIGN_OR_RETURN(const Slope slope,
//                          SlopeAtZero(f, {.step = 0x1p-6}));

#pragma once

#include <functional>

#include "framework/backend/exact.h"

namespace assay::reference {

struct RefereeOptions {
  double step = 0x1p-6;  // the greatest; a power of two, so that h is exact
  int levels = 6;        // of two evaluations each
};

/// f at a step, and how far off it may be.
struct Sample {
  double value = 0;
  double bound = 0;
};

/// The derivative of f at 0. Calls f twice a level.
Result<Slope> SlopeAtZero(const std::function<Result<Sample>(double)>& f,
                          const RefereeOptions& options);

}  // namespace assay::reference
