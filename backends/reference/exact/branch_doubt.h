// SPDX-License-Identifier: Apache-2.0
//
// Branches of kernels that the run may have taken the wrong way, since what
// they compared was rounded.
//
//   const std::vector<Charged<Charge::kBound>> numbers = ...;  // by node
//   const bool unknown = IsUndecided(tape, numbers);

#pragma once

#include <algorithm>
#include <vector>

#include "backends/reference/number/charged.h"
#include "backends/reference/tape/tape.h"

namespace assay::reference {

/// True when this branch, which was taken in double, may be the wrong one.
template <Charge kCharge, class S>
bool IsInDoubt(const Comparison& branch, const std::vector<double>& taken,
               const std::vector<Charged<kCharge, S>>& numbers) {
  const Charged<kCharge, S>& a = numbers[branch.a];
  const Charged<kCharge, S>& b = numbers[branch.b];
  return (a < b) != (taken[branch.a] < taken[branch.b]) ||
         (b < a) != (taken[branch.b] < taken[branch.a]) ||
         Charged<kCharge, S>::MayCross(a, b);
}

/// True when one of the tape may be.
template <Charge kCharge, class S>
bool IsUndecided(const Tape& tape,
                 const std::vector<Charged<kCharge, S>>& numbers) {
  return std::ranges::any_of(tape.branches(), [&](const Comparison& branch) {
    return IsInDoubt(branch, tape.values(), numbers);
  });
}

}  // namespace assay::reference
