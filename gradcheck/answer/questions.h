// SPDX-License-Identifier: Apache-2.0
//
// The questions to an oracle about a gradient case, and its answers as a judge
// reads them.

#pragma once

#include <array>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {

/// The greatest ratio of a rounded up number to the number.
inline constexpr double kCoarsest = 1 + 0x1p-7;

/// `numbers`, float64 and none below 0, as bfloat16: none less than it was, and
/// none beyond kCoarsest times it. As they are where that type has no such
/// number.
Result<Tensor> Coarse(Tensor numbers);

std::vector<suite::Question> QuestionsOf(const GradientCase& c);

/// A number and how far off it may be.
struct Known {
  double value = 0;
  double bound = 0;
};

/// Three ways to the derivative of the sum of cotangents times outputs along
/// the tangents: the reverse pass, the tangent pass, and differences of values.
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
