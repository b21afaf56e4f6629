// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/drawn_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/graph/model_text.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/judge/function_backend_fixture.h"

namespace assay::gradcheck {
namespace {

using testing::HasSubstr;

/// Twice what is kept, and zeros.
double Kept(double x) { return x > 0 ? 2 * x : 0; }
double Mask(double x) { return x > 0 ? 2 : 0; }

std::string JudgedMask(FunctionOfOne function) {
  FunctionBackend backend(std::move(function));
  suite::Subject subject;
  subject.model =
      graph::ModelOfText("g (double[5] x) => (double[5] y) { y = Dropout(x) }");
  const std::vector<double> numbers = {1, -2, 0, 3, -0.5};
  subject.inputs = {{*TensorOf(DType::kFloat64, {5}, numbers)}};
  subject.targets = {"x"};
  auto trial = *Trial::Load(backend, subject);
  const auto fault = JudgeDrawnMask({}, trial);
  return fault.ok() ? *fault : fault.status().message();
}

TEST(DrawnMask, IsTheGradientOfWhatWasDrawn) {
  EXPECT_EQ(JudgedMask({.f = Kept, .slope = Mask}), "");
  EXPECT_EQ(JudgedMask({.f = Kept, .slope = Mask, .off = {{2, 5.0}}}), "");
}

// Kills: a gradient that is not that of the mask, by little or at one element,
// and an output that is no mask times the input.
TEST(DrawnMask, TellsAnotherGradient) {
  EXPECT_THAT(JudgedMask({.f = Kept, .slope = Mask, .off = {{3, 1e-14}}}),
              HasSubstr("element 3 of the gradient of 'x'"));
  EXPECT_THAT(JudgedMask({.f = Kept, .slope = [](double) { return 2.0; }}),
              HasSubstr("element 1 of the gradient of 'x'"));
  EXPECT_THAT(JudgedMask({.f = [](double x) { return x * x; },
                          .slope = [](double x) { return x; }}),
              HasSubstr("no mask times the input"));
}

}  // namespace
}  // namespace assay::gradcheck
