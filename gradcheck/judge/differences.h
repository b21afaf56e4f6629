// SPDX-License-Identifier: Apache-2.0
//
// Two witnesses beside the oracle, which show a fault of the oracle.
//
// Differences: the derivative of the sum of cotangents times outputs along a
// direction, from the backend's own outputs in float64. Central differences at
// steps that shrink are extrapolated to a step of zero (Ridders, Accurate
// computation of F'(x) and F'(x) F''(x), 1982). The bound counts rounding,
// which Ridders' own estimate leaves out.
//
// Stated answers: outputs and gradients that a case gives by itself, from a
// formula that somebody solved by hand. They have few binary digits, and the
// backend must give equal numbers.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/case/test_case.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

struct Differences {
  Slope slope;  // an infinite bound where a kink or a jump is near
  double h_min = 0;
  double h_max = 0;
};

/// True where the gradient fits the backend's outputs, and both differ from the
/// exact ones. The gradient along the directions then lies within the slope's
/// bound, and the exact tangent does not; the bound is far below the difference
/// between the two. Beside a kink the slope's bound is as wide as the kink. At
/// a kink, where several tangents are right, the bound of `exact` is infinite.
bool ShowsAnotherForward(const Slope& slope, double along, const Known& exact);

/// Runs Forward 12 times. Afterwards the inputs have their own numbers again.
Result<Differences> DifferencesOf(Trial& trial,
                                  std::span<const Value> cotangents,
                                  std::span<const Value> directions);

/// Names the first element that differs from the number that the case states;
/// empty where there is none, or where the case states nothing. `gradients` are
/// those of the sum of the outputs, one for each target. Outputs and gradients
/// may have any type of floating-point numbers.
std::string FaultOfStated(const cases::Stated& stated,
                          const std::vector<std::string>& targets,
                          std::span<const Value> outputs,
                          std::span<const Value> gradients);

}  // namespace assay::gradcheck
