// SPDX-License-Identifier: Apache-2.0
//
// Judged: gradients that were compared with the exact ones, and how far each
// element may be off. The same gradients, taken in another way, are compared
// with these.
//
//   const Beside found = judged.Hold(others);
//   if (!found.fault.empty()) Report(found.fault);

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "framework/core/value.h"
#include "gradcheck/run/compare.h"

namespace assay::gradcheck {

struct Beside {
  /// Names the first element that is too far off, as "element 3 of the gradient
  /// of 'x' is 1, wanted 2"; empty where none is.
  std::string fault;
  double greatest = 0;  // error over limit
};

struct Judged {
  std::span<const std::string> targets;
  std::span<const Value> dy;
  std::span<const Value> gradients;
  std::span<const Compared> compared;  // one for each target

  /// Compares `others`, one for each target, with `factor` times these
  /// gradients. Two right gradients are at most two limits apart. An element
  /// that is not judged, as at a kink, is skipped.
  Beside Hold(std::span<const Value> others, double factor = 1) const;
  /// Does the same for one target.
  Beside HoldOne(size_t target, const Value& other, double factor = 1) const;
};

}  // namespace assay::gradcheck
