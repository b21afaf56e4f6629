// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/exact.h"

#include <string_view>

namespace assay::inline v1 {
namespace {

Status NotOffered(std::string_view what) {
  return Unsupported(Reason::kGradient, "the oracle offers no ", what);
}

}  // namespace

Result<std::vector<ExactValue>> ExactRun::Vjp(std::span<const Value>,
                                              Precision) {
  return NotOffered("gradients");
}

Result<std::vector<ExactValue>> ExactRun::Jvp(std::span<const Value>,
                                              Precision) {
  return NotOffered("tangents");
}

Result<Slope> ExactRun::Difference(std::span<const Value>,
                                   std::span<const Value>) {
  return NotOffered("differences");
}

Result<std::vector<Tensor>> ExactRun::EvaluateUnits(UnitKind) {
  return NotOffered("units of outputs");
}

Result<std::vector<Tensor>> ExactRun::VjpUnits(std::span<const Value>,
                                               UnitKind) {
  return NotOffered("units of gradients");
}

Result<std::vector<Tensor>> ExactRun::JvpUnits(std::span<const Value>,
                                               UnitKind) {
  return NotOffered("units of tangents");
}

Result<std::vector<ExactHull>> ExactRun::VjpHull(std::span<const Value>,
                                                 double) {
  return NotOffered("hulls of gradients");
}

Result<std::vector<ExactHull>> ExactRun::JvpHull(std::span<const Value>,
                                                 double) {
  return NotOffered("hulls of tangents");
}

Result<std::vector<ExactValue>> EvaluateAt(Exact& exact,
                                           std::span<const Value> inputs,
                                           Precision precision) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, exact.At(inputs, {}));
  return run->Evaluate(precision);
}

}  // namespace assay::inline v1
