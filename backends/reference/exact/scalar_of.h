// SPDX-License-Identifier: Apache-2.0
//
// WithScalarOf: the scalar of a precision, as far as a pass with it is possible.
//
//   return WithScalarOf(precision, trace, PassKind::kValues, [&]<class S>() {
//     Borders<S> numbers;
//     return Use(ReplaySteps(trace, Left::kKept, &numbers, see));
//   });

#pragma once

#include <vector>

#include "backends/reference/number/mpfr.h"
#include "backends/reference/number/quad.h"
#include "backends/reference/tape/trace.h"
#include "framework/backend/exact.h"

namespace assay::reference {

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
