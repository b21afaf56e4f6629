// SPDX-License-Identifier: Apache-2.0
//
// Recording: a run of a traced network with the Vars of what came out, to seed
// passes over its trace with; and the scalar of a precision, as far as a pass
// with it is possible.
//
//   Recording record;
//   ASSAY_RETURN_IF_ERROR(
//       record.Fill(network, inputs, targets, directions, /*step=*/0));
//   ASSAY_RETURN_IF_ERROR(record.ForEachSeed(
//       cotangents, [&](const Var& x, double cotangent) { ... }));

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/number/mpfr.h"
#include "backends/reference/number/quad.h"
#include "backends/reference/tape/trace.h"
#include "framework/backend/backend.h"
#include "framework/backend/exact.h"

namespace assay::reference {

/// A value that derivatives are taken by: an input or an initializer, a tensor
/// of floating-point numbers in memory that no other of them shares.
struct Target {
  std::string name;
  v1::Value value;
};

/// For each target what it has for each element; null for zeros.
using Directions = std::vector<const double*>;

/// A direction: float64, of `shape`; null where it is absent. Invalid argument,
/// with its name, for another.
Result<const double*> DirectionOf(const v1::Value& direction,
                                  const Shape& shape, std::string_view name);
/// Invalid argument where these differ.
Status CheckCount(size_t found, size_t wanted, std::string_view what);

struct Recording {
  explicit Recording(Ties ties = Ties::kFalse,
                     size_t most_kept_bytes = Trace::kMostKeptBytes)
      : trace(ties, Trace::Between::kUnrounded, most_kept_bytes) {}

  /// Records a run with each target moved by step times its direction. The
  /// network outlives the record.
  Status Fill(Network& network, std::span<const v1::Value> inputs,
              std::span<const Target> moved, const Directions& directions,
              double step);

  /// Calls take(x, number) for each element of an output that has a cotangent.
  template <class Take>
  Status ForEachSeed(std::span<const v1::Value> cotangents,
                     const Take& take) const {
    ASSAY_RETURN_IF_ERROR(
        CheckCount(cotangents.size(), outputs.size(), "cotangents"));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor* const vars = outputs[i].tensor();
      if (vars == nullptr || vars->dtype() != kDTypeOf<Var>) continue;
      ASSAY_ASSIGN_OR_RETURN(
          const double* const cotangent,
          DirectionOf(cotangents[i], vars->shape(), names[i]));
      if (cotangent == nullptr) continue;
      const auto elements = vars->elements<Var>();
      for (size_t k = 0; k < elements.size(); ++k) {
        if (cotangent[k] != 0) take(elements[k], cotangent[k]);
      }
    }
    return OkStatus();
  }

  Trace trace;
  std::unique_ptr<Binding> binding;
  std::vector<v1::Value> outputs;
  std::vector<std::string> names;  // of the outputs
  std::vector<v1::Value> targets;
};

/// A pass forward that evaluates, or one for a derivative.
enum class PassKind : uint8_t { kValues, kDerivatives };

/// Resource exhausted where a pass in a precision takes too much: in quad more
/// than 2^28 operations, those within products included, which are half a
/// minute, or more than 2^35 that an evaluation leaves to pairs; in MPFR more
/// than 2^26, or 2^23 nodes of one kernel, of some 100 bytes, since MPFR ends
/// the program where it gets no memory.
Status CheckSteps(const Trace& trace, Precision precision, PassKind kind);

/// Calls body.operator()<S>() with the scalar of a precision.
template <class Body>
Result<std::vector<ExactValue>> WithScalarOf(Precision precision,
                                             const Trace& trace, PassKind kind,
                                             const Body& body) {
  ASSAY_RETURN_IF_ERROR(CheckSteps(trace, precision, kind));
  switch (precision) {
    case Precision::kQuad:
      return body.template operator()<Quad>();
    case Precision::kArbitrary:
      return body.template operator()<Mpfr>();
    case Precision::kDouble:
      break;
  }
  return body.template operator()<double>();
}

}  // namespace assay::reference
