// SPDX-License-Identifier: Apache-2.0
//
// jax/_src/public_test_util.py, check_vjp: a tangent from the normal
// distribution, its product with the gradient against the product of the
// cotangent with a central difference of step 1e-4, in the type of the case.
// The tolerance, absolute and relative, is that of the type.

#include <cmath>
#include <numbers>

#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {
namespace {

constexpr double kStep = 1e-4;

double ToleranceOf(DType type) {
  switch (type) {
    case DType::kFloat64:
      return 1e-5;
    case DType::kFloat32:
      return 2e-3;
    case DType::kFloat16:
      return 1e-2;
    default:
      return 1e-1;
  }
}

Numbers Normal(size_t size, Draw& draw) {
  Numbers numbers(size);
  for (double& x : numbers) {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - draw.Uniform()));
    x = radius * std::cos(2 * std::numbers::pi * draw.Uniform());
  }
  return numbers;
}

double Product(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Result<bool> Jax(Function& f, Draw& draw) {
  const Numbers tangent = Normal(f.x().size(), draw);
  const Numbers cotangent = Normal(f.n_out(), draw);
  ASSAY_ASSIGN_OR_RETURN(const Numbers slope,
                         CentralDifference(f, tangent, kStep));
  ASSAY_ASSIGN_OR_RETURN(const Numbers dx, f.Backward(cotangent));
  const double numeric = Product(cotangent, slope);
  const double tolerance = ToleranceOf(f.type());
  return std::abs(Product(tangent, dx) - numeric) <=
         tolerance + tolerance * std::abs(numeric);
}

}  // namespace assay::gradcheck::peers
