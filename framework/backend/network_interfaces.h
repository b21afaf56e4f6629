// SPDX-License-Identifier: Apache-2.0
//
// Optional interfaces of a Network beyond Forward. A backend that lacks one
// returns null for it, and the suites that need it decline.
//
//   if (Differentiable* d = network->differentiable()) {
//     ASSAY_ASSIGN_OR_RETURN(auto grads, d->Backward(*binding, {dy}, {"x"}));
//   }
//
// Exact, the interface of an oracle, stands in exact.h.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::inline v1 {

class Binding;
class Exact;  // exact.h

/// Vector-Jacobian products of the bound values.
class Differentiable {
 public:
  virtual ~Differentiable() = default;

  /// After Forward of `binding`: given a cotangent per output (of the output's
  /// type and shape; a default Value counts as zeros), the gradient of their
  /// inner product with the outputs, for each value named in `targets`: an
  /// input, a parameter or an extra output that LoadOptions listed. Results
  /// are freshly owned, of the value's type and shape.
  virtual Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) = 0;
};

/// The trainable initializers.
class Parameters {
 public:
  virtual ~Parameters() = default;
  virtual std::vector<std::string> List() const = 0;
  /// A copy, and an overwrite that keeps type and shape.
  virtual Result<Tensor> Read(std::string_view name) const = 0;
  virtual Status Write(std::string_view name, const Tensor& value) = 0;
};

/// The backend's own optimizer.
class NativeStep {
 public:
  virtual ~NativeStep() = default;
  virtual std::vector<std::string> Optimizers() const = 0;
  /// Chooses one with its hyperparameters; unknown names are invalid.
  virtual Status Configure(
      std::string_view optimizer,
      const std::map<std::string, double>& hyperparameters) = 0;
  /// Forward, backward from `loss` (a scalar output) and update.
  virtual Status Step(Binding& binding, std::string_view loss) = 0;
};

/// Where a node of the main graph really ran.
struct PlacedNode {
  std::string node;      // its label
  std::string executor;  // a library, a device, or "adapter" for the glue
  std::string function;  // the label of the call in whose function body the
                         // node stands; empty for one of the model as written
};

class Placement {
 public:
  virtual ~Placement() = default;
  /// One per node of the main graph that ran, in order, after Load.
  virtual std::vector<PlacedNode> Placed() const = 0;
};

}  // namespace assay::inline v1
