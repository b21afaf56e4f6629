// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/run/judged.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {

Beside Judged::Hold(std::span<const Value> others, double factor) const {
  Beside all;
  for (size_t t = 0; t < others.size(); ++t) {
    Beside one = HoldOne(t, others[t], factor);
    all.greatest = std::max(all.greatest, one.greatest);
    if (all.fault.empty()) all.fault = std::move(one.fault);
  }
  return all;
}

Beside Judged::HoldOne(size_t target, const Value& other, double factor) const {
  const Tensor& own = *gradients[target].tensor();
  const Tensor& tensor = *other.tensor();
  if (tensor.dtype() != own.dtype() || tensor.shape() != own.shape()) {
    return {StrCat("the gradient of '", targets[target], "' is ",
                   tensor.Signature(), ", wanted ", own.Signature())};
  }
  const std::vector<double> got = NumbersOf(tensor);
  const std::vector<double> one = NumbersOf(own);
  Beside found;
  for (size_t i = 0; i < got.size(); ++i) {
    const double want = factor * one[i];
    const double limit = std::abs(factor) * compared[target].limits[i];
    if (!std::isfinite(limit) || !std::isfinite(want)) continue;
    // Beyond the type's greatest number a multiple is infinite.
    if (got[i] == want || (factor != 1 && std::isinf(got[i]))) continue;
    const double error = std::abs(got[i] - want);
    found.greatest = std::max(found.greatest, error / limit);
    if (error <= 2 * limit || !found.fault.empty()) continue;
    found.fault =
        StrCat("element ", i, " of the gradient of '", targets[target], "' is ",
               file::ToText(got[i]), ", wanted ", file::ToText(want));
  }
  return found;
}

}  // namespace assay::gradcheck
