// SPDX-License-Identifier: Apache-2.0
//
// torch/autograd/gradcheck.py with its defaults: eps 1e-6, atol 1e-5, rtol
// 1e-3, nondet_tol 0, check_undefined_grad on. Slow mode compares Jacobians,
// fast mode one product of them between positive vectors of length 1.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {
namespace {

constexpr double kStep = 1e-6;
constexpr double kAbsolute = 1e-5;
constexpr double kRelative = 1e-3;

bool Close(double analytic, double numeric, double absolute) {
  return std::abs(analytic - numeric) <=
         absolute + kRelative * std::abs(numeric);
}

bool AreZeros(const Numbers& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return x == 0; });
}

/// A second backward gives the same bits, for each of these cotangents.
Result<bool> Repeats(Function& f, const Numbers& dy) {
  ASSAY_ASSIGN_OR_RETURN(const Numbers first, f.Backward(dy));
  ASSAY_ASSIGN_OR_RETURN(const Numbers second, f.Backward(dy));
  return first == second;
}

/// Zero cotangents, and absent ones among zeros, give zeros.
Result<bool> ZerosGiveZeros(Function& f) {
  const Numbers zeros(f.n_out(), 0);
  const int n = static_cast<int>(f.outputs().size());
  for (int absent = Function::kNone; absent < n; ++absent) {
    ASSAY_ASSIGN_OR_RETURN(const Numbers dx, f.Backward(zeros, absent));
    if (!AreZeros(dx)) return false;
  }
  return true;
}

/// In [0, 1), of length 1 together, in a block of zeros.
Numbers Positive(size_t size, Block block, Draw& draw) {
  Numbers direction(size, 0);
  double squares = 0;
  for (size_t i = block.begin; i < block.end; ++i) {
    direction[i] = draw.Uniform();
    squares += direction[i] * direction[i];
  }
  for (double& x : direction) x /= std::sqrt(squares);
  return direction;
}

double Product(const Numbers& a, const Numbers& b, Block block) {
  double sum = 0;
  for (size_t i = block.begin; i < block.end; ++i) sum += a[i] * b[i];
  return sum;
}

double Sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace

Result<bool> PyTorchSlow(Function& f, Draw&) {
  ASSAY_ASSIGN_OR_RETURN(
      const bool agree,
      JacobiansAgree(f, kStep, [](double analytic, double numeric) {
        return Close(analytic, numeric, kAbsolute);
      }));
  if (!agree) return false;
  Numbers dy(f.n_out(), 0);
  for (double& element : dy) {
    element = 1;
    ASSAY_ASSIGN_OR_RETURN(const bool repeats, Repeats(f, dy));
    element = 0;
    if (!repeats) return false;
  }
  return ZerosGiveZeros(f);
}

Result<bool> PyTorchFast(Function& f, Draw& draw) {
  for (const Block in : f.inputs()) {
    const Numbers u = Positive(f.x().size(), in, draw);
    ASSAY_ASSIGN_OR_RETURN(const Numbers slope, CentralDifference(f, u, kStep));
    for (const Block out : f.outputs()) {
      const Numbers v = Positive(f.n_out(), out, draw);
      ASSAY_ASSIGN_OR_RETURN(const Numbers dx, f.Backward(v));
      const double numeric = Product(slope, v, out);
      if (!Close(Product(dx, u, in), numeric, kAbsolute * Sum(u) * Sum(v))) {
        return false;
      }
      ASSAY_ASSIGN_OR_RETURN(const bool repeats, Repeats(f, v));
      if (!repeats) return false;
    }
  }
  return ZerosGiveZeros(f);
}

}  // namespace assay::gradcheck::peers
