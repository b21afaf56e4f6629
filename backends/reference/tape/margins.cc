// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/margins.h"

#include <algorithm>
#include <cmath>

namespace assay::reference {
namespace {

// The step at which a - b, which changes by `slope` for each, is 0. What does
// not change never is.
double StepTo(double difference, double slope) {
  if (slope == 0) return std::numeric_limits<double>::infinity();
  return std::abs(difference) / std::abs(slope);
}

double StepBetween(const Dual<double>& a, const Dual<double>& b) {
  return StepTo(a.value - b.value, a.tangent - b.tangent);
}

void TakeChoices(const Tape& tape, const std::vector<Dual<double>>& moving,
                 double* least) {
  for (const Choice& choice : tape.choices()) {
    const Dual<double>& best = moving[choice.chosen];
    for (const uint32_t node : tape.candidates(choice)) {
      if (node != choice.chosen) {
        *least = std::min(*least, StepBetween(best, moving[node]));
      }
    }
  }
}

}  // namespace

Margins MarginsOf(const Tape& tape, const std::vector<Dual<double>>& moving) {
  Margins margins;
  for (const Comparison& branch : tape.branches()) {
    double& least = branch.is_jump ? margins.jump : margins.kink;
    least = std::min(least, StepBetween(moving[branch.a], moving[branch.b]));
  }
  TakeChoices(tape, moving, &margins.kink);
  for (size_t node = 1; node < tape.size(); ++node) {
    const Primitive primitive = tape.primitive(node);
    const Dual<double>& a = moving[tape.a(node)];
    if (primitive == Primitive::kAbs) {
      margins.kink = std::min(margins.kink, StepTo(a.value, a.tangent));
      continue;
    }
    // The root has no derivative at 0, however its operand comes there.
    if (primitive == Primitive::kSqrt && a.value == 0 &&
        tape.primitive(tape.a(node)) != Primitive::kConstant) {
      margins.kink = 0;
      continue;
    }
    const double b = moving[tape.b(node)].value;
    const double gap = Charged<Charge::kBound>::GapOf(primitive, a.value, b);
    if (std::isfinite(gap)) {
      margins.jump = std::min(margins.jump, StepTo(gap, a.tangent));
    }
  }
  return margins;
}

}  // namespace assay::reference
