// SPDX-License-Identifier: Apache-2.0
//
// Judged: gradients that were held against the exact ones, and what each element
// may be off by. The same gradients, found in another way, are held against them.
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
  /// "element 3 of the gradient of 'x' is 1, wanted 2", the first that is too far
  /// off; empty where none is.
  std::string fault;
  double greatest = 0;  // error over limit
};

struct Judged {
  std::span<const std::string> targets;
  std::span<const Value> dy;
  std::span<const Value> gradients;
  std::span<const Compared> compared;  // one for each target

  /// Two that are both right are two limits apart at most: `others`, one for each
  /// target, against `factor` times these gradients. What is not judged, as an
  /// element at a kink, is passed over.
  Beside Hold(std::span<const Value> others, double factor = 1) const;
  /// The same of one target.
  Beside HoldOne(size_t target, const Value& other, double factor = 1) const;
};

}  // namespace assay::gradcheck
