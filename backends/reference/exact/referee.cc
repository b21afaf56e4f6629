// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/referee.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/reference/number/charged.h"

namespace assay::reference {
namespace {

// One entry: an estimate, and what rounding can have done to it.
struct Entry {
  double value;
  double rounding;
};

Result<Entry> CentralDifference(const std::function<Result<Sample>(double)>& f,
                                double step) {
  ASSAY_ASSIGN_OR_RETURN(const Sample ahead, f(step));
  ASSAY_ASSIGN_OR_RETURN(const Sample behind, f(-step));
  const double value = (ahead.value - behind.value) / (2 * step);
  return Entry{value, (ahead.bound + behind.bound) / (2 * step) +
                          2 * 0x1p-53 * std::abs(value)};
}

// Cancels the error of order h^2k of two entries, whose steps are as 1 to 2.
Entry Extrapolated(const Entry& fine, const Entry& coarse, double power) {
  const double value = fine.value + (fine.value - coarse.value) / (power - 1);
  return {value, (power * fine.rounding + coarse.rounding) / (power - 1) +
                     4 * 0x1p-53 * std::abs(value)};
}

// How far an entry may be off: as its two forerunners are from it, and by what
// rounding did to any of the three.
double BoundOf(const Entry& entry, const Entry& fine, const Entry& coarse) {
  const double spread = std::max(std::abs(entry.value - fine.value),
                                 std::abs(entry.value - coarse.value));
  return spread + entry.rounding + fine.rounding;
}

// By chance an entry may be near both its forerunners and not near the slope,
// as where errors of two orders cancel. Another that is apart from it by more
// than the bounds of both shows this.
void Doubt(const std::vector<Slope>& entries, Slope* best) {
  double bound = best->bound;
  for (const Slope& entry : entries) {
    const double apart = std::abs(entry.value - best->value);
    if (apart > entry.bound + best->bound) {
      bound = std::max(bound, apart + entry.bound);
    }
  }
  best->bound = bound;
}

// The step at which a - b, which changes by `slope` for each, is 0; infinity
// where it does not change.
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

Result<Slope> SlopeAtZero(const std::function<Result<Sample>(double)>& f,
                          const RefereeOptions& options) {
  Slope best{0, std::numeric_limits<double>::infinity()};
  std::vector<Slope> entries;
  std::vector<Entry> previous;
  double step = options.step;
  for (int level = 0; level < options.levels; ++level, step /= 2) {
    std::vector<Entry> row;
    ASSAY_ASSIGN_OR_RETURN(row.emplace_back(), CentralDifference(f, step));
    double power = 4;
    for (const Entry& coarse : previous) {
      const Entry fine = row.back();
      row.push_back(Extrapolated(fine, coarse, power));
      power *= 4;
      entries.push_back({row.back().value, BoundOf(row.back(), fine, coarse)});
      if (entries.back().bound < best.bound) best = entries.back();
    }
    previous = std::move(row);
  }
  Doubt(entries, &best);
  return best;
}

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
    // Nothing is known about 0 / 0, and nothing has moved.
    if (times < 0.5 || times > 2) return false;
  }
  return true;
}

}  // namespace assay::reference
