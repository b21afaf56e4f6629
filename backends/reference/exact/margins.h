// SPDX-License-Identifier: Apache-2.0
//
// How far one may go along a direction before a decision that was taken on a
// tape would be another: the step of a referee stays below it.
//
//   const auto moving = Replay<Dual<double>>(tape, direction);
//   const Margins margins = MarginsOf(tape, moving);

#pragma once

#include <limits>
#include <vector>

#include "backends/reference/number/lifted.h"
#include "backends/reference/tape/tape.h"

namespace assay::reference {

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
