// SPDX-License-Identifier: Apache-2.0
//
// Optional interfaces of a Network beyond Forward. A backend that lacks one
// returns null for it, and the suites that need it decline.
//
//   if (Differentiable* d = network->differentiable()) {
//     ASSAY_ASSIGN_OR_RETURN(auto grads, d->Backward(*binding, {dy}, {"x"}));
//   }

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

/// How the passes of Exact compute.
enum class Precision : uint8_t {
  kDouble,
  kQuad,       // 113 bits
  kArbitrary,  // MPFR, 256 bits
};

/// A value known better than its element type can say: value + tail, off by at
/// most `bound`.
struct ExactValue {
  Value value;   // a tensor of float64, not rounded to the type of the model;
                 // all else as it is, or absent where a decision is in doubt
  Tensor tail;   // float64; what is left when value is taken away. Undefined
  Tensor bound;  // float64, never negative. Undefined where value is as it is
};

/// A number found by other means than the ones it is to check, off by at most
/// `bound`.
struct Slope {
  double value = 0;
  double bound = 0;
};

/// The same model in a higher precision: inputs are decoded exactly, and no
/// result between them and the outputs is rounded to an element type. Offered
/// by networks loaded with LoadOptions::exact.
class Exact {
 public:
  virtual ~Exact() = default;
  /// One per output of the network. `inputs` as Bind takes them, of the types
  /// that the model declares.
  virtual Result<std::vector<ExactValue>> Evaluate(
      std::span<const Value> inputs, Precision precision) = 0;
  /// Transposed Jacobian times cotangents (float64, one per output; a default
  /// Value counts as zeros), one per input; an input that is no tensor of
  /// floating-point numbers has a default Value.
  virtual Result<std::vector<ExactValue>> Vjp(std::span<const Value> inputs,
                                              std::span<const Value> cotangents,
                                              Precision precision) = 0;
  /// Jacobian times tangents (float64, one per input, or default), one per
  /// output.
  virtual Result<std::vector<ExactValue>> Jvp(std::span<const Value> inputs,
                                              std::span<const Value> tangents,
                                              Precision precision) = 0;
  /// The derivative of the sum of cotangents times outputs along the tangents,
  /// by differences of values alone: a referee of Vjp and of Jvp, which share
  /// their partial derivatives. The bound is infinite where a kink or a jump is
  /// too near.
  virtual Result<Slope> Difference(std::span<const Value> inputs,
                                   std::span<const Value> tangents,
                                   std::span<const Value> cotangents) = 0;
  /// The change of each output element that one rounding of every input and of
  /// every result between, sums apart, can cause, to first order, in roundoffs:
  /// float64, one per output. An error divided by this and by the unit roundoff
  /// is in condition units.
  virtual Result<std::vector<Tensor>> ConditionUnits(
      std::span<const Value> inputs) = 0;
};

}  // namespace assay::inline v1
