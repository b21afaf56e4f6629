// SPDX-License-Identifier: Apache-2.0
//
// The checks of a gradient case, each of which may decide it.
//
// A check reads the context and the findings of the checks before it, runs the
// backend, and adds its own findings. Two witnesses beside the oracle show a
// fault of the oracle (differences.cc).
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

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/judge/gradient_row.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

struct Context {
  const GradientCase& c;
  const suite::Subject& subject;
  const GradientAnswers& answers;
  DType accumulator = DType::kUndefined;
};

struct Findings {
  std::vector<GradientRow> rows;
  std::vector<Value> gradients;    // for the first cotangents
  std::vector<Compared> compared;  // of them
  int64_t forward_us = 0;          // of one forward
  int64_t judged = 0;              // elements
  int64_t telling = 0;             // of these, neither zero nor open
  int64_t non_zero = 0, kinks = 0, non_finite = 0;
};

/// The verdict, where a check decides the case.
using Decided = std::optional<measure::Judgement>;
using Check = Decided (*)(const Context& context, Trial& trial,
                          Findings* found);

/// Checks the outputs of the network loaded for gradients, within the limits of
/// conformance or those of the oracle's units, whichever are wider.
Decided CheckForward(const Context& context, Trial& trial, Findings* found);

/// Checks every element of every gradient for each of kCotangents, and their
/// sum where some are tied. For ones, outputs and gradients must equal those
/// that the case states.
Decided CheckElements(const Context& context, Trial& trial, Findings* found);

/// Checks the gradient along signs against the exact tangent, whose pass shares
/// no step with the reverse pass.
Decided CheckTangent(const Context& context, Trial& trial, Findings* found);

/// Checks the properties that must hold between backward runs (structure.h).
Decided CheckStructure(const Context& context, Trial& trial, Findings* found);

/// In the class jacobian, checks every element of every Jacobian. A case whose
/// Jacobians are too great passes.
Decided CheckJacobian(const Context& context, Trial& trial, Findings* found);

/// In float64, checks the gradient along signs against differences of the
/// backend's own outputs. A wrong gradient that agrees with these is the fault
/// of the forward: returns `decided` with that reason, else unchanged.
Decided BesideDifferences(const Context& context, Trial& trial, Findings* found,
                          Decided decided);

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
