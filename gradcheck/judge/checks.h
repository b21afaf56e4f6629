// SPDX-License-Identifier: Apache-2.0
//
// The checks of a gradient case, each of which may decide it.
//
//   Findings found;
//   if (const auto verdict = CheckElements(context, trial, &found)) return *verdict;
//
// A check reads the context and what those before it found, runs the backend,
// and adds what it finds itself.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "framework/testing/measure/measure.h"
#include "framework/testing/suite/question.h"
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
  int64_t telling = 0;             // of these, not zero whatever is done
  int64_t non_zero = 0, kinks = 0, non_finite = 0;
};

/// The verdict, where a check decides the case.
using Decided = std::optional<measure::Judgement>;
using Check = Decided (*)(const Context& context, Trial& trial,
                          Findings* found);

/// The outputs of the network loaded for gradients, within the limits of
/// conformance or those of the oracle's units, whichever are wider.
Decided CheckForward(const Context& context, Trial& trial, Findings* found);

/// Every element of every gradient, for each of kCotangents; their sums where
/// some are tied; and for ones, equality with what the case states.
Decided CheckElements(const Context& context, Trial& trial, Findings* found);

/// The gradient along signs against the exact tangent, a pass that shares no
/// step with the reverse one.
Decided CheckTangent(const Context& context, Trial& trial, Findings* found);

/// What must hold between backward runs (structure.h).
Decided CheckStructure(const Context& context, Trial& trial, Findings* found);

/// In the class jacobian every element of every Jacobian; it passes a case
/// whose Jacobians are too great.
Decided CheckJacobian(const Context& context, Trial& trial, Findings* found);

/// In float64, the gradient along signs against differences of the backend's
/// own outputs. A wrong gradient that agrees with these is the forward's fault:
/// `decided` with that reason, or as it was.
Decided BesideDifferences(const Context& context, Trial& trial, Findings* found,
                          Decided decided);

}  // namespace assay::gradcheck
