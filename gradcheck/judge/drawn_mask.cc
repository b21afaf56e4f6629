// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/drawn_mask.h"

#include <cmath>
#include <utility>
#include <vector>

#include "framework/file/csv.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

constexpr double kRoundings = 4;  // of a product, the mask's number and of ours

/// y / x for each element; 0 where x is 0. Not found where they are not zeros
/// and one other number.
Result<std::vector<double>> MaskOf(const std::vector<double>& x,
                                   const std::vector<double>& y,
                                   double roundoff) {
  std::vector<double> mask(x.size());
  double scale = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    mask[i] = y[i] / x[i];
    if (mask[i] == 0) continue;
    if (scale == 0) scale = mask[i];
    if (!(std::abs(mask[i] - scale) <= kRoundings * roundoff * scale)) {
      return NotFound("the output is no mask times the input");
    }
  }
  return mask;
}

}  // namespace

Result<std::string> JudgeDrawnMask(const GradientCase& c, Trial& trial) {
  ASSAY_RETURN_IF_ERROR(trial.Forward());
  const Tensor* const y =
      trial.outputs().empty() ? nullptr : trial.outputs()[0].tensor();
  if (trial.targets().size() != 1 || !trial.FeedsTargets() || y == nullptr ||
      !Carries(y->dtype())) {
    return NotFound("no output of one differentiable input");
  }
  const double roundoff = limit::UnitRoundoff(y->dtype());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> x, trial.NumbersOf(0));
  const std::vector<double> of_y = NumbersOf(*y);
  if (of_y.size() != x.size()) return NotFound("the output has another shape");
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> mask,
                         MaskOf(x, of_y, roundoff));
  Draw draw = c.Drawn("random 1");
  const int bits = CotangentBits(y->dtype(), c.variant.input_class);
  const std::vector<double> weights = Weights(std::ssize(x), bits, draw);
  std::vector<Value> dy(trial.outputs().size());
  ASSAY_ASSIGN_OR_RETURN(dy[0], Tensor::Of<double>(y->shape(), weights));
  ASSAY_ASSIGN_OR_RETURN(const auto gradients,
                         trial.Backward(dy, trial.targets()));
  const std::vector<double> got = NumbersOf(*gradients[0].tensor());
  if (got.size() != x.size()) return std::string("the gradient's shape");
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = weights[i] * mask[i];
    if (x[i] == 0 ||
        std::abs(got[i] - want) <= kRoundings * roundoff * std::abs(want)) {
      continue;
    }
    return StrCat("element ", i, " of the gradient of '", trial.targets()[0],
                  "' is ", file::ToText(got[i]),
                  ", the drawn mask times the cotangent is ",
                  file::ToText(want));
  }
  return trial.Damage();
}

}  // namespace assay::gradcheck
