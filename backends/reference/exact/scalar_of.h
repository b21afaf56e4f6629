// SPDX-License-Identifier: Apache-2.0
//
// WithScalarOf: the scalar of a precision, as far as a pass with it is possible.
//
//   return WithScalarOf(precision, trace, [&]<class S>() {
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

/// Resource exhausted where a pass in a precision takes too much: in quad more
/// than 2^28 steps, those within products included, which are half a minute; in
/// MPFR more than 2^26, or 2^23 nodes of one kernel, of some 100 bytes, since
/// MPFR ends the program where it gets no memory.
Status CheckSteps(const Trace& trace, Precision precision);

/// Calls body.operator()<S>() with the scalar of a precision.
template <class Body>
Result<std::vector<ExactValue>> WithScalarOf(Precision precision,
                                             const Trace& trace,
                                             const Body& body) {
  ASSAY_RETURN_IF_ERROR(CheckSteps(trace, precision));
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
