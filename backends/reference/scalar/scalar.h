// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary that kernels compute in. A kernel is a template over a
// computing scalar T: float, double, and for integer operators int64_t or
// uint64_t, or Var, which records what is computed (scalar/var.h). So kernels
// have no `<` on T: they say Before, Less, Value, Detach or Choose.
//
//   template <class T> T LeakyRelu(T x, T alpha) {
//     return Before(x, T(0)) ? alpha * x : x;
//   }
//
// Constants are made from primitives (sqrt(T(0.5))), so that they are as exact
// as the scalar.

#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/reference/scalar/math_functions.h"
#include "backends/reference/scalar/var.h"

namespace assay::reference {

template <class T>
concept PlainScalar = std::floating_point<T> || std::integral<T>;

inline uint64_t abs(uint64_t x) { return x; }

/// double in the place of float, for long sums and for formulas of several
/// roundings, whose result is stored once. Any other scalar is itself.
template <class T>
using Wide = std::conditional_t<std::same_as<T, float>, double, T>;

/// The number itself, for choosing between two ways to compute one smooth
/// function: such a choice is no kink and is not recorded.
template <PlainScalar T>
T Value(T x) {
  return x;
}

/// A copy that derivatives do not flow through.
template <PlainScalar T>
T Detach(T x) {
  return x;
}

/// True when a < b; the two branches differ in their derivatives: a kink.
/// False when either is NaN.
template <PlainScalar T>
bool Before(T a, T b) {
  return a < b;
}

/// then() where a < b, else otherwise(): two formulas that give the same where
/// a == b. A Var computes both and decides anew in each pass.
template <PlainScalar T, class Then, class Otherwise>
T IfBefore(T a, T b, const Then& then, const Otherwise& otherwise) {
  return a < b ? then() : otherwise();
}

/// True when a < b, and when a == b; the results differ: a jump.
template <PlainScalar T>
bool Less(T a, T b) {
  return a < b;
}
template <PlainScalar T>
bool Equal(T a, T b) {
  return a == b;
}

/// Notes that x was found between two whole numbers that are one apart, where
/// a formula for other numbers gives the same at either: kinks.
template <class T>
void NoteCell(T x, int64_t low) {
  static_cast<void>(Before(x, static_cast<T>(low)));
  static_cast<void>(Before(static_cast<T>(low + 1), x));
}

/// Notes that x was found between two numbers, where the result jumps.
template <class T>
void NoteBetween(T low, T x, T high) {
  static_cast<void>(Less(x, low));
  static_cast<void>(Less(high, x));
}

/// Notes that x was rounded to this whole number, which shows in the result.
template <class T>
void NoteRounded(T x, double nearest) {
  NoteBetween(T(nearest - 0.5), x, T(nearest + 0.5));
}

/// True when the first of equal numbers is taken. Vars may take the last, to
/// see what a tie means.
template <PlainScalar T>
bool TakesFirst() {
  return true;
}
template <std::same_as<Var>>
bool TakesFirst() {
  return TakesFirstVar();
}

/// True when x is NaN, which no integer is.
template <class T>
bool IsNan(T x) {
  return Value(x) != Value(x);
}

/// The greater of two; NaN when either is; a when they are equal.
template <class T>
T Max(T a, T b) {
  return Before(a, b) || IsNan(b) ? b : a;
}

/// The smaller of two; NaN when either is; a when they are equal.
template <class T>
T Min(T a, T b) {
  return Before(b, a) || IsNan(b) ? b : a;
}

/// The maximum (with kLeast the minimum) of no values: every number is greater
/// (smaller), or equal where T has no infinity.
template <class T, bool kLeast = false>
T Bound() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::is_integer) {
    return kLeast ? Limits::max() : Limits::min();
  } else {
    const T infinity(std::numeric_limits<double>::infinity());
    return kLeast ? infinity : -infinity;
  }
}

/// The greatest (or, with kLeast, smallest) of the values offered and where it
/// stood. The first of equals is kept; a NaN, once offered, stays.
template <class T, bool kLeast = false>
class Choose {
 public:
  void Offer(T value, int64_t index) {
    const bool better = kLeast ? Before(value, best_) : Before(best_, value);
    if (index_ < 0 || better || (IsNan(value) && !IsNan(best_))) {
      best_ = value;
      index_ = index;
    }
  }
  /// The best of the values offered; Bound when there were none.
  T best() const { return best_; }
  /// Where the best stood; -1 when there were no values.
  int64_t index() const { return index_; }

 private:
  T best_ = Bound<T, kLeast>();
  int64_t index_ = -1;
};

/// A Var's choice is one node, of all that were offered.
template <bool kLeast>
class Choose<Var, kLeast> {
 public:
  void Offer(Var value, int64_t index) {
    choose_.Offer(value.value(), static_cast<int64_t>(offered_.size()));
    offered_.push_back(value);
    indices_.push_back(index);
  }
  Var best() const {
    return offered_.empty() ? Bound<Var, kLeast>()
                            : PickedFrom(offered_, chosen(), kLeast);
  }
  /// The index shows in an output: so each other value could change it.
  int64_t index() {
    if (offered_.empty()) return -1;
    while (told_ < offered_.size()) {
      Equal(offered_[told_++], offered_[chosen()]);
    }
    return indices_[chosen()];
  }

 private:
  size_t chosen() const { return static_cast<size_t>(choose_.index()); }

  Choose<double, kLeast> choose_;  // among offered_
  std::vector<Var> offered_;
  std::vector<int64_t> indices_;
  size_t told_ = 0;  // of offered_, those compared on the tape
};

/// The p-norm of the values added: (sum of |x|^p)^(1/p).
template <class T>
class NormSum {
 public:
  explicit NormSum(int64_t p) : p_(p) {}
  void Add(T x) {
    if (p_ == 1) {
      sum_ += abs(x);
    } else {
      sum_ += p_ == 2 ? x * x : pow(abs(x), static_cast<T>(p_));
    }
    if constexpr (std::same_as<T, Var>) {
      vanishes_ = vanishes_ && p_ > 1 && x.value() == 0;
      if (vanishes_) at_zeros_ += abs(x);
    }
  }
  /// A norm of zeros has a kink: along each element it is the magnitude of
  /// that, which a scalar that records notes in the place of the root.
  T Root() const {
    if constexpr (std::same_as<T, Var>) {
      if (vanishes_) return at_zeros_;
    }
    if (p_ == 1) return sum_;
    return p_ == 2 ? sqrt(sum_) : pow(sum_, T(1) / static_cast<T>(p_));
  }
  /// The derivative of the root after an x that was added; 0 where x is 0, and
  /// where the root is infinite.
  double SlopeAt(double x) const {
    const double sign = x > 0 ? 1 : x < 0 ? -1 : 0;
    if (p_ == 1 || p_ == 0) return sign * static_cast<double>(p_);
    if (x == 0 || std::isinf(sum_)) return 0;
    if (p_ == 2) return x / sqrt(sum_);
    if (sign == 0) return 0;
    const auto p = static_cast<double>(p_);
    return sign * pow(abs(x), p - 1) * pow(sum_, 1 / p - 1);
  }

 private:
  int64_t p_;
  T sum_{0};
  bool vanishes_ = true;  // of a Var: all that were added are 0
  T at_zeros_{0};
};

}  // namespace assay::reference
