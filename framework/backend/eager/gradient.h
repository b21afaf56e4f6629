// SPDX-License-Identifier: Apache-2.0
//
// Reverse mode over a Program: which steps take part is found at Load, and a
// backward run walks them in reverse, sums what flows into each value, and
// returns what was asked for.
//
//   ASSAY_ASSIGN_OR_RETURN(GradientPlan plan,
//                          PlanGradient(program, scope, targets));
//   RunBackward(plan, frame, cotangents, {"x"});

#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager/frame.h"
#include "framework/backend/eager/scope.h"

namespace assay::eager {

struct GradientPlan {
  std::map<std::string, ValueId, std::less<>> targets;
  /// By ValueId: a tensor of float32 or float64, so that gradients pass.
  std::vector<bool> carries;
  /// Indices of the steps between a target and an output, ascending.
  std::vector<size_t> steps;
};

/// Marks the steps that take part as saving. Not found for a target that is no
/// value of the graph; unsupported, reason gradient, as EagerBackend::Load
/// says.
Result<GradientPlan> PlanGradient(Program& program, const LoadScope& scope,
                                  std::span<const std::string> targets);

/// `frame` has run. As Differentiable::Backward.
Result<std::vector<Value>> RunBackward(const GradientPlan& plan,
                                       const Frame& frame,
                                       std::span<const Value> cotangents,
                                       std::span<const std::string> targets);

/// sum += addend, for float32 and float64 of one shape. An undefined sum
/// becomes the addend; bytes that somebody else holds are not written into.
Status Accumulate(Tensor& sum, const Tensor& addend);

}  // namespace assay::eager
