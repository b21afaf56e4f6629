// SPDX-License-Identifier: Apache-2.0
//
// tensorflow/python/ops/gradient_checker_v2.py: full Jacobians in the type of
// the case, delta 1e-3, the greatest absolute difference. Its callers choose
// the bound; 1e-3 is common.

#include <cmath>

#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {

Result<bool> TensorFlow(Function& f, Draw&) {
  return JacobiansAgree(f, 1e-3, [](double analytic, double numeric) {
    return std::abs(analytic - numeric) <= 1e-3;
  });
}

}  // namespace assay::gradcheck::peers
