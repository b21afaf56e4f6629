// SPDX-License-Identifier: Apache-2.0
//
// A derivative from values alone, with a bound: central differences at steps
// that halve, extrapolated (Richardson; the tableau of Ridders, Advances in
// Engineering Software 4, 1982), where each entry carries what rounding of the
// values can have done to it beside what its neighbours say of it. Margins say
// how far a step may go along a direction before a decision that was taken on a
// tape would be another.
//
//   ASSAY_ASSIGN_OR_RETURN(const Slope slope,
//                          SlopeAtZero(f, {.step = 0x1p-6}));

#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "backends/reference/number/primitives.h"
#include "backends/reference/tape/tape.h"
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

/// The least steps, in multiples of the direction, to first order; infinite
/// where no decision changes.
struct Margins {
  double kink = std::numeric_limits<double>::infinity();  // of derivatives
  double jump = std::numeric_limits<double>::infinity();  // of values
  /// To a pole or the end of a domain, or as far as a function is much as its
  /// tangent is.
  double scale = std::numeric_limits<double>::infinity();
};

/// |a - b| / |a' - b'| of each comparison; of a choice the winner against each
/// other candidate; of a step (Floor, Round, ...) the way to where it jumps.
Margins MarginsOf(const Tape& tape, const std::vector<Dual<double>>& moving);

/// True when another run, at inputs beside those of `tape`, took the same steps
/// and no operand of a quotient, root, logarithm or power became twice or half
/// of what it is: there a function is not what it is here.
bool StaysInScale(const Tape& tape, const Tape& beside);

}  // namespace assay::reference
