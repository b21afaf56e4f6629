// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/scalar_of.h"

namespace assay::reference {
namespace {

constexpr double kMostInQuad = 0x1p28;
constexpr double kMostInMpfr = 0x1p26;
constexpr size_t kMostNodesInMpfr = size_t{1} << 23;

double StepsOf(const Tape& tape) {
  auto steps = static_cast<double>(tape.size());
  for (const Block& block : tape.blocks()) {
    steps += static_cast<double>(block.rows) *
             static_cast<double>(block.inner) *
             static_cast<double>(block.columns);
  }
  return steps;
}

}  // namespace

Status CheckSteps(const Tape& tape, Precision precision) {
  if (precision == Precision::kDouble) return OkStatus();
  const bool in_quad = precision == Precision::kQuad;
  const double most = in_quad ? kMostInQuad : kMostInMpfr;
  const double steps = StepsOf(tape);
  if (steps > most) {
    return ResourceExhausted("found ", steps, " steps, wanted ", most,
                             " at most in ", in_quad ? "quad" : "MPFR");
  }
  if (!in_quad && tape.size() > kMostNodesInMpfr) {
    return ResourceExhausted("found ", tape.size(), " nodes, wanted ",
                             kMostNodesInMpfr, " at most in MPFR");
  }
  return OkStatus();
}

}  // namespace assay::reference
