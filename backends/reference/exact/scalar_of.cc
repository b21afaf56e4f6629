// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/scalar_of.h"

namespace assay::reference {
namespace {

constexpr double kMostInQuad = 0x1p28;
constexpr double kMostInPairs = 0x1p35;
constexpr double kMostInMpfr = 0x1p26;
constexpr size_t kMostNodesInMpfr = size_t{1} << 23;

}  // namespace

Status CheckSteps(const Trace& trace, Precision precision, PassKind kind) {
  if (precision == Precision::kDouble) return OkStatus();
  const bool in_quad = precision == Precision::kQuad;
  const auto check = [&](double found, double most) {
    if (found <= most) return OkStatus();
    return ResourceExhausted("found ", found, " steps, wanted ", most,
                             " at most in ", in_quad ? "quad" : "MPFR");
  };
  double steps = trace.operation_count();
  if (in_quad && kind == PassKind::kValues) {
    ASSAY_RETURN_IF_ERROR(check(trace.pair_count(), kMostInPairs));
    steps -= trace.pair_count();
  }
  ASSAY_RETURN_IF_ERROR(check(steps, in_quad ? kMostInQuad : kMostInMpfr));
  if (!in_quad && trace.most_nodes() > kMostNodesInMpfr) {
    return ResourceExhausted("found ", trace.most_nodes(), " nodes, wanted ",
                             kMostNodesInMpfr, " at most in MPFR");
  }
  return OkStatus();
}

}  // namespace assay::reference
