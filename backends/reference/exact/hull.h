// SPDX-License-Identifier: Apache-2.0
//
// Hulls: all that a derivative can be, whatever is done at ties. Numbers are
// tied where they differ by no more than rounding can have made of them.
//
//   const std::vector<Hard> values = HardValues(tape, roundoff);
//   std::vector<Interval> adjoints(tape.size());
//   adjoints[y.node()] = Interval(1);
//   Reverse(tape, values, adjoints);      // passes.h
//
// A choice, a selection of formulas and an absolute value may go either way in
// one pass. A comparison that a kernel branched on was taken in one way: of
// those a tape is recorded for each way (Ties), and TieWithin makes it see
// ties.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backends/reference/tape/steps.h"
#include "framework/backend/exact.h"

namespace assay::reference {

/// A number with one rounding of each operation before it.
using Hard = Charged<Charge::kHard>;

/// While one lives, in its thread, an operation on intervals makes such an
/// error.
class IntervalsRounded {
 public:
  explicit IntervalsRounded(double roundoff)
      : before_(std::exchange(roundoff_, roundoff)) {}
  IntervalsRounded(const IntervalsRounded&) = delete;
  IntervalsRounded& operator=(const IntervalsRounded&) = delete;
  ~IntervalsRounded() { roundoff_ = before_; }

  static double roundoff() { return roundoff_; }

 private:
  inline static thread_local double roundoff_ = 0;
  double before_;
};

/// From one number to another, both included.
struct Interval {
  Interval() = default;
  explicit Interval(double x) : low(x), high(x) {}
  Interval(double from, double to, double error_of_ends = 0)
      : low(from), high(to), error(error_of_ends) {}

  double Magnitude() const { return std::max(std::abs(low), std::abs(high)); }

  double low = 0;
  double high = 0;
  /// How far off rounding makes the ends, to first order.
  double error = 0;
};

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

inline bool IsZero(const Interval& x) { return x.low == 0 && x.high == 0; }
inline Interval operator+(const Interval& a, const Interval& b) {
  Interval sum(a.low + b.low, a.high + b.high, a.error + b.error);
  if (!IsZero(a) && !IsZero(b)) {
    sum.error += IntervalsRounded::roundoff() * sum.Magnitude();
  }
  return sum;
}
inline Interval operator*(double factor, const Interval& x) {
  if (factor == 0) return Interval(0);
  Interval product = factor < 0 ? Interval(factor * x.high, factor * x.low)
                                : Interval(factor * x.low, factor * x.high);
  product.error = std::abs(factor) * x.error +
                  IntervalsRounded::roundoff() * product.Magnitude();
  return product;
}
/// The whole line where the derivative is not known, such as that of a step at
/// its jump.
inline Interval operator*(const Hard& factor, const Interval& x) {
  if (factor.units == Hard::kUnknown && !IsZero(x)) {
    return {-kUnbounded, kUnbounded};
  }
  Interval product = factor.value * x;
  product.error += factor.Error() * x.Magnitude();
  return product;
}
/// The whole line where an end is NaN.
inline Interval Hull(const Interval& a, const Interval& b) {
  for (const double end : {a.low, a.high, b.low, b.high}) {
    if (std::isnan(end)) return {-kUnbounded, kUnbounded};
  }
  return {std::min(a.low, b.low), std::max(a.high, b.high),
          std::max(a.error, b.error)};
}

/// True when rounding may have decided which is the greater, or neither is, as
/// of NaN and a number.
inline bool AreTied(const Hard& a, const Hard& b) {
  const bool ordered = a.value < b.value || b.value < a.value;
  return !ordered || Hard::MayCross(a, b);
}

/// Numbers of a tape, those given being exact, as charged with `roundoff`
/// instead of that of double.
void Scale(double roundoff, std::vector<Hard>* values);
std::vector<Hard> HardValues(const Tape& tape, double roundoff);

/// Lets a tape that is about to be recorded see ties of such numbers.
void TieWithin(double roundoff, Tape* tape);
/// The same for each step of a trace.
std::shared_ptr<Trace::Observer> TiesWithin(double roundoff);

/// True when rounding may have decided a comparison whose sides differ in their
/// values, not only in their derivatives: of the other side nothing is known.
bool MayJump(const Tape& tape, const std::vector<Hard>& values);

/// The derivatives of all nodes along the directions of the inputs.
std::vector<Interval> HullsAlong(const Tape& tape,
                                 const std::vector<Hard>& values,
                                 const InputOf<Interval>& direction);

/// For Reverse. A tie may go to the first, to the last, or be split.
void ReverseDecision(const Tape& tape, const Choice& choice,
                     const std::vector<Hard>& values, const Interval& flow,
                     std::vector<Interval>& adjoints);
void ReverseDecision(const Tape& tape, const Selection& selection,
                     const std::vector<Hard>& values, const Interval& flow,
                     std::vector<Interval>& adjoints);
bool ReverseKink(Primitive primitive, const Hard& a, const Interval& flow,
                 Interval& adjoint);

/// The hulls of values, and how far off the ends of each element are.
struct Hulls {
  std::vector<ExactHull> hulls;
  std::vector<std::vector<double>> errors;
};

/// Widens the hull of each value to hold what was found for its Vars, and all
/// there is where it is unknown. Hulls that are none yet are made.
Status JoinHulls(const std::vector<v1::Value>& values,
                 const Borders<Interval>& found, bool unknown, Hulls* joined);

/// Widens each hull that has a width by the error of its ends: what stands
/// between them is one number that was rounded on its own way.
std::vector<ExactHull> WidenedByError(Hulls joined);

}  // namespace assay::reference
