// SPDX-License-Identifier: Apache-2.0
//
// Exact: the same model in a higher precision, and the derivatives of its
// outputs: the interface of an oracle.
//
//   if (Exact* exact = network->exact()) {
//     ASSAY_ASSIGN_OR_RETURN(auto run, exact->At(inputs, targets));
//     ASSAY_ASSIGN_OR_RETURN(auto y, run->Evaluate(Precision::kQuad));
//     ASSAY_ASSIGN_OR_RETURN(auto dx, run->Vjp(dy, Precision::kDouble));
//   }

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::inline v1 {

/// The precision in which an answer is computed.
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

/// The numbers that are charged with one rounding each where errors are
/// counted. Hard units over condition units are the depth of rounding of a
/// computation.
enum class UnitKind : uint8_t {
  kCondition,  // each number given and each result that is no sum
  kHard,       // sums, too
};

/// The least and the greatest that something can be: tensors of float64.
struct ExactHull {
  Tensor low;
  Tensor high;
};

/// One run of a network at given inputs, recorded, and what can be asked of it.
/// Directions are tensors of float64 of the shape of what they belong to; a
/// default Value counts as zeros. All but Evaluate may be unsupported, reason
/// gradient. A run does not outlive its network.
class ExactRun {
 public:
  virtual ~ExactRun() = default;

  /// The least precision whose answers are worth their time: more than double
  /// for a run so great that in double next to nothing is known.
  virtual Precision LeastPrecision() const { return Precision::kDouble; }

  /// One per output of the network.
  virtual Result<std::vector<ExactValue>> Evaluate(Precision precision) = 0;
  /// Transposed Jacobian times cotangents, one per output: one per target.
  virtual Result<std::vector<ExactValue>> Vjp(std::span<const Value> cotangents,
                                              Precision precision);
  /// Jacobian times tangents, one per target: one per output.
  virtual Result<std::vector<ExactValue>> Jvp(std::span<const Value> tangents,
                                              Precision precision);
  /// The derivative of the sum of cotangents times outputs along the tangents,
  /// by differences of values alone: a referee of Vjp and of Jvp, which share
  /// their partial derivatives. The bound is infinite where a kink or a jump is
  /// too near.
  virtual Result<Slope> Difference(std::span<const Value> tangents,
                                   std::span<const Value> cotangents);

  /// The change of each element that one rounding of all that is charged can
  /// cause, to first order, in roundoffs: float64, infinite where it is
  /// unknown. An error divided by this and by the unit roundoff is in these
  /// units. Those of derivatives are of the steps and choices that were taken.
  virtual Result<std::vector<Tensor>> EvaluateUnits(UnitKind kind);
  virtual Result<std::vector<Tensor>> VjpUnits(
      std::span<const Value> cotangents, UnitKind kind);
  virtual Result<std::vector<Tensor>> JvpUnits(std::span<const Value> tangents,
                                               UnitKind kind);

  /// All that the derivatives can be, whatever is done at ties: what a
  /// comparison, a choice or an absolute value compares is tied where it
  /// differs by no more than `roundoff` in each operation before can cause.
  virtual Result<std::vector<ExactHull>> VjpHull(
      std::span<const Value> cotangents, double roundoff);
  virtual Result<std::vector<ExactHull>> JvpHull(
      std::span<const Value> tangents, double roundoff);
};

/// Offered by networks loaded with LoadOptions::exact: inputs are decoded
/// exactly, and no result between them and the outputs is rounded to an element
/// type.
class Exact {
 public:
  virtual ~Exact() = default;

  /// `inputs` as Bind takes them, of the types that the model declares.
  /// `targets` are the inputs and initializers that derivatives are taken of,
  /// by name: tensors of floating-point numbers.
  virtual Result<std::unique_ptr<ExactRun>> At(
      std::span<const Value> inputs, std::span<const std::string> targets) = 0;
};

/// The outputs of a run at these inputs.
Result<std::vector<ExactValue>> EvaluateAt(Exact& exact,
                                           std::span<const Value> inputs,
                                           Precision precision);

}  // namespace assay::inline v1
