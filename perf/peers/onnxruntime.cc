// SPDX-License-Identifier: Apache-2.0
//
// orttraining/orttraining/test/gradient/gradient_checker.cc: full Jacobians in
// float32, delta 1e-3, the greatest absolute difference within 1.5e-2, NaN a
// failure. Its inputs are drawn from N(0, 5); here they are the case's.

#include <cmath>

#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {

Result<bool> OnnxRuntime(Function& f, Draw&) {
  return JacobiansAgree(f, 1e-3, [](double analytic, double numeric) {
    return std::abs(analytic - numeric) <= 1.5e-2;
  });
}

}  // namespace assay::gradcheck::peers
