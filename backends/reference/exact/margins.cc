// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/margins.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/number/charged.h"

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

void TakeSelections(const Tape& tape, const std::vector<Dual<double>>& moving,
                    double* least) {
  for (const Selection& selection : tape.selections()) {
    *least =
        std::min(*least, StepBetween(moving[selection.a], moving[selection.b]));
  }
}

// As far as a function goes along with its tangent, to a pole or the end of its
// domain.
double ScaleOf(Primitive primitive, const Dual<double>& a,
               const Dual<double>& b) {
  switch (primitive) {
    case Primitive::kDivide:
    case Primitive::kFmod:
      return StepTo(b.value, b.tangent);
    case Primitive::kSqrt:
    case Primitive::kLog:
    case Primitive::kPow:
      return StepTo(a.value, a.tangent);
    case Primitive::kLog1p:
      return StepTo(1 + a.value, a.tangent);
    case Primitive::kAcosh:
      return StepTo(a.value - 1, a.tangent);
    case Primitive::kAsin:
    case Primitive::kAcos:
    case Primitive::kAtanh:
      return StepTo(1 - std::abs(a.value), a.tangent);
    case Primitive::kTan:
      return StepTo(std::cos(a.value), a.tangent);
    case Primitive::kExp:
    case Primitive::kExpm1:
    case Primitive::kSin:
    case Primitive::kCos:
    case Primitive::kAtan:
    case Primitive::kSinh:
    case Primitive::kCosh:
    case Primitive::kTanh:
    case Primitive::kAsinh:
    case Primitive::kErf:
    case Primitive::kErfc:
      return StepTo(1, a.tangent);
    default:
      return std::numeric_limits<double>::infinity();
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
  TakeSelections(tape, moving, &margins.kink);
  for (size_t node = 1; node < tape.size(); ++node) {
    const Primitive primitive = tape.primitive(node);
    if (!HasOperands(primitive)) continue;
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
    const Dual<double>& b = moving[tape.b(node)];
    margins.scale = std::min(margins.scale, ScaleOf(primitive, a, b));
    const double gap = StepGap(primitive, a.value, b.value);
    if (std::isfinite(gap)) {
      const double turns =
          primitive == Primitive::kFmod ? std::nearbyint(a.value / b.value) : 0;
      margins.jump =
          std::min(margins.jump, StepTo(gap, a.tangent - turns * b.tangent));
    }
  }
  return margins;
}

bool StaysInScale(const Tape& tape, const Tape& beside) {
  if (tape.size() != beside.size()) return false;
  for (size_t node = 1; node < tape.size(); ++node) {
    if (tape.primitive(node) != beside.primitive(node)) return false;
    uint32_t operand = 0;
    switch (tape.primitive(node)) {
      case Primitive::kDivide:
        operand = tape.b(node);
        break;
      case Primitive::kSqrt:
      case Primitive::kLog:
      case Primitive::kPow:
        operand = tape.a(node);
        break;
      default:
        continue;
    }
    const double times = beside.values()[operand] / tape.values()[operand];
    // Of 0 / 0 nothing is known, and nothing has moved.
    if (times < 0.5 || times > 2) return false;
  }
  return true;
}

}  // namespace assay::reference
