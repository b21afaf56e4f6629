// SPDX-License-Identifier: Apache-2.0
//
// What an oracle is asked about a gradient case, and its answers as a judge
// reads them.
//
//   for (const suite::Question& question : QuestionsOf(gradient_case)) {
//     ASSAY_ASSIGN_OR_RETURN(auto answers, question.ask(exact_run, subject));
//   }
//   ASSAY_ASSIGN_OR_RETURN(const GradientAnswers answers,
//                          ReadGradientAnswers(gradient_case));

#pragma once

#include <array>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/suite/question.h"
#include "gradcheck/answer/cotangent.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

std::vector<suite::Question> QuestionsOf(const GradientCase& c);

/// A number and how far off it may be.
struct Known {
  double value = 0;
  double bound = 0;
};

/// Three ways to the derivative of the sum of cotangents times outputs along the
/// tangents: the reverse pass, the tangent pass, and differences of values.
struct Ladder {
  Known reverse, tangent, differences;
  /// Empty where they agree.
  std::string Disagreement() const;
};

struct GradientAnswers {
  std::vector<measure::ExactAnswer> outputs;
  /// For each of kCotangents, one for each target: the gradient in float64;
  /// bound and units as Coarse makes them; a tail for a case of float64 alone;
  /// a hull only where it has a width.
  std::array<std::vector<measure::ExactAnswer>, kCotangents.size()> gradients;
  Ladder ladder;
  /// For each of kCotangents all that the sum of all elements of all gradients
  /// can be; empty where no gradient has a hull.
  std::vector<Known> mass;  // the middle, and half the width
};

/// Not found where the oracle was not asked, unsupported where it declined;
/// data loss for answers that were lost, or are of another form.
Result<GradientAnswers> ReadGradientAnswers(const GradientCase& c);

}  // namespace assay::gradcheck
