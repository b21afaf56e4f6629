// SPDX-License-Identifier: Apache-2.0
//
// Differences: the derivative of the sum of cotangents times outputs along a
// direction, from the backend's own outputs in float64. Central differences at
// steps that shrink are extrapolated to a step of zero (Ridders, Accurate
// computation of F'(x) and F'(x) F''(x), 1982); with a bound that counts
// rounding, which Ridders' own estimate leaves out.
//
//   ASSAY_ASSIGN_OR_RETURN(const Differences found,
//                          DifferencesOf(trial, cotangents, directions));
//   found.slope.value;  // off by at most found.slope.bound

#pragma once

#include <span>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/status.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

struct Differences {
  Slope slope;  // an infinite bound where a kink or a jump is near
  double h_min = 0;
  double h_max = 0;
};

/// True where the outputs show that the gradient is theirs, and that both
/// differ from the exact ones: the gradient along the directions lies within
/// the slope's bound, the exact tangent does not, and the bound is far below
/// the difference that it is to explain. Beside a kink a bound is as wide as
/// the kink; at one, where several tangents are right, the bound of `exact` is
/// infinite.
bool ShowsAnotherForward(const Slope& slope, double along, const Known& exact);

/// 12 forwards. The inputs are as they were afterwards.
Result<Differences> DifferencesOf(Trial& trial,
                                  std::span<const Value> cotangents,
                                  std::span<const Value> directions);

}  // namespace assay::gradcheck
