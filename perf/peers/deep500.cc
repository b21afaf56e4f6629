// SPDX-License-Identifier: Apache-2.0
//
// deep500/lv0/validation/gradient.py: a Jacobian by central differences of step
// 1e-5 in the type of the case, times a random positive cotangent, against the
// gradient. It reports norms and judges nothing; the bound here is that of
// torch.autograd.gradcheck, element by element.

#include <cmath>

#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {

Result<bool> Deep500(Function& f, Draw& draw) {
  ASSAY_RETURN_IF_ERROR(CheckJacobian(f));
  Numbers dy(f.n_out());
  for (double& element : dy) element = draw.Uniform();
  ASSAY_ASSIGN_OR_RETURN(const Numbers analytic, f.Backward(dy));
  Numbers direction(f.x().size(), 0);
  for (size_t i = 0; i < direction.size(); ++i) {
    direction[i] = 1;
    ASSAY_ASSIGN_OR_RETURN(const Numbers slope,
                           CentralDifference(f, direction, 1e-5));
    direction[i] = 0;
    double numeric = 0;
    for (size_t j = 0; j < dy.size(); ++j) numeric += dy[j] * slope[j];
    const bool close =
        std::abs(analytic[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric);
    if (!close) return false;
  }
  return true;
}

}  // namespace assay::gradcheck::peers
