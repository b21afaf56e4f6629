// SPDX-License-Identifier: Apache-2.0
//
// Properties that must hold between backward runs of one binding, whatever the
// gradient is.

#pragma once

#include <optional>
#include <string>

#include "framework/core/status.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

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

/// In order: a second backward gives the same bits; a cotangent of zeros gives
/// zeros; twice the cotangent gives twice the gradient; a missing cotangent is
/// as zeros; a target alone has the gradient that it has among all; a forward
/// of another binding changes nothing; gradients that are bound,
/// those of examples in another order (batch.h) and those of inputs that two
/// nodes read are the same; no memory was written that is not the
/// backend's.
Result<Structure> StructureOf(Trial& trial, const Judged& judged);

}  // namespace assay::gradcheck
