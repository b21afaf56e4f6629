// SPDX-License-Identifier: Apache-2.0
//
// What must hold between backward runs of one binding, whatever the gradient is.
//
//   ASSAY_ASSIGN_OR_RETURN(const Structure found,
//                          StructureOf(trial, dy, gradients, compared));
//   if (!found.fault.empty()) Report(found.fault);

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "gradcheck/judge/compare.h"
#include "gradcheck/judge/trial.h"

namespace assay::gradcheck {

struct Structure {
  /// The first thing that does not hold; empty when all do.
  std::string fault;
  bool nondeterministic = false;  // that is the fault
  int distinct_results = 1;       // of two backward runs of the same
  bool zero_ok = true;
  std::optional<bool> missing_ok;  // nothing where there is one cotangent
  double linearity = 0;            // greatest error over limit
};

/// `gradients` are what Backward gave for the cotangents `dy`, and `compared`
/// what each of them may be off by. In order: a second backward gives the same
/// bits; a cotangent of zeros gives zeros; twice the cotangent gives twice the
/// gradient; a missing cotangent is as zeros; a target alone has the gradient
/// that it has among all; a forward of other inputs in another binding, or
/// before the last in this one, changes nothing; no memory was written that is
/// not the backend's.
Result<Structure> StructureOf(Trial& trial, std::span<const Value> dy,
                              std::span<const Value> gradients,
                              std::span<const Compared> compared);

}  // namespace assay::gradcheck
