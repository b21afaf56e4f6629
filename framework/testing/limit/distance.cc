// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/distance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "framework/core/text.h"
#include "framework/metric/element.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/limit/limit.h"
#include "framework/testing/measure/recheck.h"

namespace assay::limit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool HasNumbers(const measure::ExactAnswer& answer) {
  const Tensor* const tensor = answer.value.tensor();
  return tensor != nullptr && tensor->dtype() == DType::kFloat64;
}

bool HasLimits(const measure::ExactAnswer& answer) {
  return answer.bound.defined() && answer.units.defined() &&
         answer.hard_units.defined();
}

double GreatestOf(std::span<const double> numbers) {
  double greatest = 0;
  for (const double x : numbers) {
    if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
  }
  return greatest;
}

/// The least limit of an element. Libraries compute functions to some roundoffs
/// of the greatest number, not of each: of oneDNN's, Gelu is off by 2, and Log
/// by 48. They do so in float32 where the type is narrower. Numbers below the
/// least normal one may be flushed to 0; of a type of few exponents, where that
/// is no small number, they may be off by a roundoff of a roundoff.
double LeastOf(DType type, double greatest) {
  constexpr double kOfGreatest = 64;
  const double roundoff = UnitRoundoff(type);
  const double narrow = std::min(roundoff, UnitRoundoff(DType::kFloat32));
  const double tiny =
      std::min(std::ldexp(1, metric::RangeOf(type).least), roundoff * roundoff);
  return std::max(tiny, kOfGreatest * narrow * greatest);
}

/// The elements of an answer, and the limits of an output of a type.
class Limits {
 public:
  Limits(const measure::ExactAnswer& answer, DType type)
      : want_(answer.value.tensor()->elements<double>()),
        bounds_(answer.bound.elements<double>()),
        units_(answer.units.elements<double>()),
        hard_(answer.hard_units.elements<double>()),
        roundoff_(UnitRoundoff(type)),
        greatest_(metric::RangeOf(type).greatest),
        least_(LeastOf(type, GreatestOf(want_))) {}

  double least() const { return least_; }
  double Want(size_t i) const { return want_[i]; }
  double Bound(size_t i) const { return bounds_[i]; }

  /// Infinite where it is not known, as beside the type's greatest number.
  double At(size_t i) const {
    // Units are of products; what is added to them is rounded with the result.
    const double limit = std::max(LimitOf(units_[i], hard_[i], roundoff_) +
                                      roundoff_ * std::abs(want_[i]),
                                  least_);
    return std::abs(want_[i]) + limit <= greatest_ ? limit : kInfinity;
  }

  /// An error in limits, which the oracle's own bound widens.
  double Share(size_t i, double error) const {
    return std::isnan(error) ? kInfinity : error / (At(i) + bounds_[i]);
  }

 private:
  const std::span<const double> want_, bounds_, units_, hard_;
  const double roundoff_, greatest_, least_;
};

Distance OfNumbers(const Tensor& got, const measure::ExactAnswer& answer) {
  Distance distance;
  const Limits limits(answer, got.dtype());
  const std::vector<double> numbers = draw::NumbersOf(got);
  distance.n_elements = std::ssize(numbers);
  distance.least = limits.least();
  size_t worst = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(limits.At(i) + limits.Bound(i))) continue;
    if (limits.Bound(i) <= kEnoughOfLimit * limits.At(i)) ++distance.n_known;
    const double share = limits.Share(i, std::abs(numbers[i] - limits.Want(i)));
    if (share <= distance.limits) continue;
    distance.limits = share;
    worst = i;
  }
  if (distance.limits > 1) {
    distance.fault =
        InWords(static_cast<int64_t>(worst), numbers[worst], limits.Want(worst),
                limits.At(worst) + limits.Bound(worst), got.dtype());
  }
  return distance;
}

/// Numbers without a bound or units: those that are right but for a rounding
/// are known to be.
Distance OfBareNumbers(const Tensor& got, const Tensor& want) {
  Distance distance;
  distance.n_elements = want.num_elements();
  const double roundoff = UnitRoundoff(got.dtype());
  const std::vector<double> numbers = draw::NumbersOf(got);
  const auto wanted = want.elements<double>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool is_right =
        numbers[i] == wanted[i] ||
        (std::isnan(numbers[i]) && std::isnan(wanted[i])) ||
        std::abs(numbers[i] - wanted[i]) <= roundoff * std::abs(wanted[i]);
    distance.n_known += is_right ? 1 : 0;
  }
  return distance;
}

Distance OfTensor(const Tensor& got, const measure::ExactAnswer& answer) {
  const Tensor& want = *answer.value.tensor();
  if (got.shape() != want.shape()) {
    return {.limits = kInfinity,
            .fault = StrCat("found ", got.Signature(), ", wanted ",
                            want.shape().ToString()),
            .n_elements = 1,
            .n_known = 1};
  }
  return HasLimits(answer) ? OfNumbers(got, answer) : OfBareNumbers(got, want);
}

void Add(const Distance& part, const std::string& where, Distance* whole) {
  whole->n_elements += part.n_elements;
  whole->n_known += part.n_known;
  if (part.limits <= whole->limits) return;
  whole->limits = part.limits;
  if (!part.fault.empty()) whole->fault = where + part.fault;
}

Distance OfOther(const Value& got, const Value& want) {
  if (measure::SameBits(got, want)) return {.n_elements = 1, .n_known = 1};
  return {.limits = kInfinity,
          .fault = StrCat("found another ", got.Type().ToString(), ", wanted ",
                          want.Type().ToString()),
          .n_elements = 1,
          .n_known = 1};
}

}  // namespace

Distance DistanceOf(const Value& got, const measure::ExactAnswer& answer) {
  const Value& want = answer.value;
  if (!want.present()) return {.n_elements = 1};
  const Tensor* const tensor = got.tensor();
  if (tensor != nullptr && IsFloatingPoint(tensor->dtype()) &&
      HasNumbers(answer)) {
    return OfTensor(*tensor, answer);
  }
  const Sequence* const items = got.sequence();
  if (items != nullptr && want.sequence() != nullptr &&
      items->items.size() == want.sequence()->items.size()) {
    Distance whole;
    for (size_t i = 0; i < items->items.size(); ++i) {
      Add(DistanceOf(items->items[i], {{.value = want.sequence()->items[i]}}),
          StrCat("item ", i, ": "), &whole);
    }
    return whole;
  }
  if (got.optional() != nullptr && want.optional() != nullptr &&
      got.optional()->has_value() && want.optional()->has_value()) {
    return DistanceOf(*got.optional()->value,
                      {{.value = *want.optional()->value}});
  }
  return OfOther(got, want);
}

std::optional<double> InheritedOf(const measure::ExactAnswer& network,
                                  const measure::ExactAnswer& node,
                                  DType type) {
  if (!HasNumbers(network) || !HasNumbers(node)) return std::nullopt;
  const Tensor& right = *network.value.tensor();
  if (!network.bound.defined() || !HasLimits(node) ||
      right.shape() != node.value.tensor()->shape()) {
    return std::nullopt;
  }
  const Limits limits(node, type);
  const auto exact = right.elements<double>();
  const auto bounds = network.bound.elements<double>();
  std::optional<double> worst;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double off =
        std::abs(exact[i] - limits.Want(i)) - bounds[i] - limits.Bound(i);
    if (!std::isfinite(limits.At(i) + off)) continue;
    worst = std::max(worst.value_or(0), std::max(0.0, off) / limits.At(i));
  }
  return worst;
}

}  // namespace assay::limit
