// SPDX-License-Identifier: Apache-2.0
//
// Gradient checkers of other projects, each from its published description, to
// be tried on the defects that the suite is tried on.
//
//   for (const Method& method : Methods()) {
//     ASSAY_ASSIGN_OR_RETURN(const bool passes, method.check(f, draw));
//   }

#pragma once

#include <span>
#include <string_view>

#include "gradcheck/draw/draw.h"
#include "perf/peers/function.h"

namespace assay::gradcheck::peers {

struct Method {
  std::string_view name;
  /// True when it is meant for float64 alone, whatever the case's type is.
  bool in_float64 = false;
  /// True when nothing is wrong with the gradients of f.
  Result<bool> (*check)(Function& f, Draw& draw) = nullptr;
};

std::span<const Method> Methods();

/// torch.autograd.gradcheck.
Result<bool> PyTorchSlow(Function& f, Draw& draw);
Result<bool> PyTorchFast(Function& f, Draw& draw);
/// jax.test_util.check_grads, modes ["rev"], order 1.
Result<bool> Jax(Function& f, Draw& draw);
/// tf.test.compute_gradient and a bound of 1e-3.
Result<bool> TensorFlow(Function& f, Draw& draw);
/// GradientChecker::ComputeGradientError and its usual bound.
Result<bool> OnnxRuntime(Function& f, Draw& draw);
/// Deep500's test_gradient, with a bound of PyTorch's.
Result<bool> Deep500(Function& f, Draw& draw);

}  // namespace assay::gradcheck::peers
