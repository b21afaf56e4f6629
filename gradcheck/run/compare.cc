// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/run/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/metric/element.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Numbers that are multiples of 1/16 are exact in sums of fewer bits than the
/// type has.
constexpr double kGrain = 16;

/// The exact answer, element by element.
class Exactly {
 public:
  explicit Exactly(const measure::ExactAnswer& answer)
      : value_(answer.value.tensor()->elements<double>()),
        tail_(Doubles(answer.tail)),
        bound_(Widened(answer.bound)),
        units_(Widened(answer.units)),
        hard_(Widened(answer.hard_units)),
        low_(Doubles(answer.hull.low)),
        high_(Doubles(answer.hull.high)) {}

  double value(size_t i) const { return value_[i]; }
  double tail(size_t i) const { return tail_.empty() ? 0 : tail_[i]; }
  /// Adds the rounding to double where there is no tail.
  double bound(size_t i) const {
    const double lost = tail_.empty() ? 0x1p-53 * std::abs(value_[i]) : 0;
    return bound_[i] == 0 ? 0 : bound_[i] + lost;
  }
  double units(size_t i) const { return units_[i]; }
  double hard(size_t i) const { return hard_[i]; }
  bool HasWidth(size_t i) const {
    return !low_.empty() && !(low_[i] == high_[i]);
  }
  bool HasFiniteHull(size_t i) const {
    return std::isfinite(low_[i]) && std::isfinite(high_[i]);
  }
  double low(size_t i) const { return low_[i]; }
  double high(size_t i) const { return high_[i]; }

 private:
  static std::span<const double> Doubles(const Tensor& tensor) {
    return tensor.defined() ? tensor.elements<double>()
                            : std::span<const double>();
  }
  static std::vector<double> Widened(const Tensor& tensor) {
    return NumbersOf(tensor);
  }

  std::span<const double> value_, tail_;
  std::vector<double> bound_, units_, hard_;
  std::span<const double> low_, high_;
};

/// Collects which of the possible gradients a backend chose at kinks.
class Convention {
 public:
  void Add(double got, double low, double high, double tolerance) {
    const auto is = [&](double x) { return std::abs(got - x) <= tolerance; };
    // The choice '1' is the whole flow, '0' is none of it.
    const double all = std::abs(low) > std::abs(high) ? low : high;
    const char choice = is(all) ? '1' : is(0) ? '0' : 's';
    if (first_ == 0) first_ = choice;
    last_ = choice;
    zero_ |= choice == '0';
    one_ |= choice == '1';
    split_ |= choice == 's';
  }
  std::string Text() const {
    if (first_ == 0) return "";
    if (split_) return zero_ || one_ ? "mixed" : "split";
    if (zero_ != one_) return zero_ ? "0" : "1";
    if (first_ == last_) return "mixed";
    return first_ == '1' ? "first" : "last";
  }

 private:
  char first_ = 0;
  char last_ = 0;
  bool zero_ = false, one_ = false, split_ = false;
};

double RoundoffOfSums(const Yardstick& yardstick) {
  return limit::UnitRoundoff(yardstick.accumulator.value_or(yardstick.type));
}

class Comparison {
 public:
  Comparison(const measure::ExactAnswer& answer, const Yardstick& yardstick,
             Compared& found)
      : exact_(answer),
        yardstick_(yardstick),
        roundoff_(limit::UnitRoundoff(yardstick.type)),
        of_sums_(RoundoffOfSums(yardstick)),
        found_(found) {
    if (yardstick.without_zeros != nullptr) {
      without_zeros_.emplace(*yardstick.without_zeros);
    }
    const metric::FloatRange range = metric::RangeOf(yardstick.type);
    quantum_ = std::ldexp(1, range.least - range.digits);
    greatest_ = range.greatest;
    const auto count =
        static_cast<size_t>(answer.value.tensor()->num_elements());
    for (size_t i = 0; i < count; ++i) {
      const double limit = FirstOrder(i);
      if (std::isfinite(limit)) {
        second_order_ = std::max(second_order_, roundoff_ * limit);
      }
    }
  }

  void Add(size_t i, double got) {
    const double want = exact_.value(i);
    found_.sum += got;
    if (want == 0) ++found_.zeros;
    found_.limits.push_back(kInfinity);
    if (std::isnan(got) && IsMasked(i)) {
      ++found_.non_finite;
      return;
    }
    const double units = exact_.units(i);
    const double bound = exact_.bound(i);
    // At a kink either side may be taken. Where the derivatives of both sides
    // are unknown, the outputs have shown that the right side was taken.
    const bool known = std::isfinite(bound) && std::isfinite(units);
    if (exact_.HasWidth(i) && (exact_.HasFiniteHull(i) || !known)) {
      return AddKink(i, got);
    }
    if (!std::isfinite(want)) return AddNonFinite(i, got);
    if (!known) {
      ++found_.unknown;
      return;
    }
    double limit = 0;
    if (!IsExact(i)) {
      limit = FirstOrder(i) + second_order_ + Underflow(i);
      found_.greatest_bound =
          std::max(found_.greatest_bound, limit > 0 ? bound / limit : 0);
      if (bound > limit::kEnoughOfLimit * limit + quantum_) ++found_.refused;
    }
    const double error = std::abs(got - want - exact_.tail(i));
    // A number beyond the type's greatest may be infinite.
    if (std::isinf(got) && std::abs(want) + limit > greatest_ &&
        std::signbit(got) == std::signbit(want)) {
      return;
    }
    if (want != 0) ++found_.telling;
    Judge(i, want, got, error, limit + bound);
    if (!std::isfinite(got)) return;
    found_.max_abs_err = std::max(found_.max_abs_err, error);
    if (want != 0) {
      found_.max_rel_err = std::max(found_.max_rel_err, error / std::abs(want));
    }
    const double off = std::max(0.0, error - bound);
    in_units_.push_back(off == 0 ? 0 : off / (roundoff_ * units));
  }

  void Finish() {
    found_.convention = convention_.Text();
    if (in_units_.empty()) return;
    double squares = 0;
    for (const double units : in_units_) squares += units * units;
    found_.rms_units =
        std::sqrt(squares / static_cast<double>(in_units_.size()));
    const auto p99 = in_units_.begin() + (std::ssize(in_units_) - 1) * 99 / 100;
    std::ranges::nth_element(in_units_, p99);
    found_.p99_units = *p99;
    found_.max_units = *std::max_element(p99, in_units_.end());
  }

 private:
  /// True where a cotangent of zero may have met an infinite derivative, or one
  /// beyond the numbers of the type.
  bool IsMasked(size_t i) const {
    if (!without_zeros_.has_value()) return false;
    return !(std::abs(without_zeros_->value(i)) <= greatest_) ||
           !std::isfinite(without_zeros_->bound(i)) ||
           !std::isfinite(without_zeros_->units(i));
  }

  double FirstOrder(size_t i) const {
    return limit::LimitOf(exact_.units(i), exact_.hard(i), roundoff_, of_sums_);
  }

  /// Exact numbers of few binary digits, in sums that no order rounds.
  bool IsExact(size_t i) const {
    return yardstick_.exact && exact_.bound(i) == 0 &&
           std::nearbyint(exact_.value(i) * kGrain) ==
               exact_.value(i) * kGrain &&
           exact_.units(i) * kGrain * of_sums_ < 1 &&
           std::abs(exact_.value(i)) * kGrain * roundoff_ < 1;
  }

  double Depth(size_t i) const {
    return limit::DepthOf(exact_.units(i), exact_.hard(i));
  }

  /// Each product may lose what is below the least number of the type.
  double Underflow(size_t i) const { return quantum_ * Depth(i); }

  void Judge(size_t i, double want, double got, double error, double limit) {
    found_.limits.back() = limit;
    found_.sum_limit += limit;
    double share = error == 0 ? 0 : error / limit;
    if (std::isnan(share)) share = kInfinity;
    if (!(error <= limit)) {
      ++found_.beyond;
      if (!std::isfinite(got)) ++found_.nan_mismatch;
    }
    if (share <= found_.worst.share) return;
    found_.worst = {static_cast<int64_t>(i),
                    want,
                    got,
                    limit,
                    exact_.hard(i) * of_sums_ + limit,
                    share,
                    exact_.units(i),
                    Depth(i),
                    exact_.bound(i)};
    if (exact_.HasWidth(i)) {
      found_.worst.hull = {exact_.low(i), exact_.high(i)};
    }
  }

  void AddKink(size_t i, double got) {
    ++found_.kinks;
    if (!exact_.HasFiniteHull(i)) {
      ++found_.unknown;
      return;
    }
    const double low = exact_.low(i);
    const double high = exact_.high(i);
    double slack = FirstOrder(i);
    if (!std::isfinite(slack)) {
      const double most = std::max(std::abs(low), std::abs(high));
      slack = limit::LimitOf(most, most, roundoff_, of_sums_);
    }
    slack += quantum_;
    ++found_.telling;
    const double nearest = std::clamp(got, low, high);
    Judge(i, nearest, got, std::abs(got - nearest), slack);
    // Any place in the hull is right, so the distance is no limit for other
    // checks.
    found_.limits.back() = kInfinity;
    convention_.Add(got, low, high, slack);
  }

  /// An infinite derivative must be infinite with the same sign; NaN is wrong.
  /// Where the exact answer is NaN, as an infinite derivative times a cotangent
  /// of zero, every number is right.
  void AddNonFinite(size_t i, double got) {
    ++found_.non_finite;
    const double want = exact_.value(i);
    if (std::isnan(want)) return;
    ++found_.telling;
    if (got == want) return;
    Judge(i, want, got, kInfinity, quantum_);
    found_.limits.back() = kInfinity;
  }

  Exactly exact_;
  std::optional<Exactly> without_zeros_;
  Yardstick yardstick_;
  double roundoff_;
  double of_sums_;  // the roundoff of the accumulator
  double quantum_ = 0;
  /// A product of two small errors, which units leave out: one roundoff of the
  /// greatest first-order limit of all elements.
  double second_order_ = 0;
  double greatest_ = 0;
  Compared& found_;
  Convention convention_;
  std::vector<double> in_units_;
};

}  // namespace

std::string InWords(const Element& element, DType type) {
  if (element.hull.has_value()) {
    return limit::InWords(element.index, element.got, *element.hull,
                          element.limit, type);
  }
  return limit::InWords(element.index, element.got, element.want, element.limit,
                        type);
}

Compared Compare(const Tensor& got, const measure::ExactAnswer& answer,
                 const Yardstick& yardstick) {
  Compared found;
  const Tensor& value = *answer.value.tensor();
  if (!Carries(got.dtype()) || got.shape() != value.shape()) {
    found.mismatch = StrCat("found ", got.Signature(), ", the input is ",
                            value.shape().ToString());
    return found;
  }
  const std::vector<double> numbers = NumbersOf(got);
  found.count = std::ssize(numbers);
  found.limits.reserve(numbers.size());
  Comparison comparison(answer, yardstick, found);
  for (size_t i = 0; i < numbers.size(); ++i) comparison.Add(i, numbers[i]);
  comparison.Finish();
  return found;
}

Beside Judged::Hold(std::span<const Value> others, double factor) const {
  Beside all;
  for (size_t t = 0; t < others.size(); ++t) {
    Beside one = HoldOne(t, others[t], factor);
    all.greatest = std::max(all.greatest, one.greatest);
    if (all.fault.empty()) all.fault = std::move(one.fault);
  }
  return all;
}

Beside Judged::HoldOne(size_t target, const Value& other, double factor) const {
  const Tensor& own = *gradients[target].tensor();
  const Tensor& tensor = *other.tensor();
  if (tensor.dtype() != own.dtype() || tensor.shape() != own.shape()) {
    return {StrCat("the gradient of '", targets[target], "' is ",
                   tensor.Signature(), ", wanted ", own.Signature())};
  }
  const std::vector<double> got = NumbersOf(tensor);
  const std::vector<double> one = NumbersOf(own);
  Beside found;
  for (size_t i = 0; i < got.size(); ++i) {
    const double want = factor * one[i];
    const double limit = std::abs(factor) * compared[target].limits[i];
    if (!std::isfinite(limit) || !std::isfinite(want)) continue;
    // Beyond the type's greatest number a multiple is infinite.
    if (got[i] == want || (factor != 1 && std::isinf(got[i]))) continue;
    const double error = std::abs(got[i] - want);
    found.greatest = std::max(found.greatest, error / limit);
    if (error <= 2 * limit || !found.fault.empty()) continue;
    found.fault =
        StrCat("element ", i, " of the gradient of '", targets[target], "' is ",
               file::ToText(got[i]), ", wanted ", file::ToText(want));
  }
  return found;
}

}  // namespace assay::gradcheck
