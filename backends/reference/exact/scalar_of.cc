// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/scalar_of.h"

namespace assay::reference {
namespace {

constexpr double kMostInQuad = 0x1p28;
constexpr double kMostInMpfr = 0x1p26;
constexpr size_t kMostNodesInMpfr = size_t{1} << 23;

}  // namespace

Status CheckSteps(const Trace& trace, Precision precision) {
  if (precision == Precision::kDouble) return OkStatus();
  const bool in_quad = precision == Precision::kQuad;
  const double most = in_quad ? kMostInQuad : kMostInMpfr;
  const double steps = trace.operation_count();
  if (steps > most) {
    return ResourceExhausted("found ", steps, " steps, wanted ", most,
                             " at most in ", in_quad ? "quad" : "MPFR");
  }
  if (!in_quad && trace.most_nodes() > kMostNodesInMpfr) {
    return ResourceExhausted("found ", trace.most_nodes(), " nodes, wanted ",
                             kMostNodesInMpfr, " at most in MPFR");
  }
  return OkStatus();
}

}  // namespace assay::reference
