// SPDX-License-Identifier: Apache-2.0
//
// The checks of a gradient case, each of which may decide it.
//
// A check reads the context and the findings of the checks before it, runs the
// backend, and adds its own findings.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

}  // namespace assay::gradcheck
