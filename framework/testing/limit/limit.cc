// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/limit.h"

#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/testing/draw/draw.h"

namespace assay::limit {
namespace {

/// Decimal digits that tell the type's numbers apart.
int DecimalDigits(DType type) {
  return 2 + (metric::RangeOf(type).digits + 1) * 301 / 1000;
}

/// A NaN has no sign to speak of.
std::string InDigits(double x, int digits) {
  if (std::isnan(x)) return "nan";
  std::ostringstream out;
  out << std::setprecision(digits) << x;
  return std::move(out).str();
}

/// True where the exact number may lie beyond the type's greatest, and what was
/// got stands for that: infinity, or, in a type that saturates, the greatest
/// number or NaN.
bool MayBeBeyond(const metric::FloatRange& range, double got, double want,
                 double allowed) {
  if (!(std::abs(want) + allowed > range.greatest)) return false;
  if (range.saturates && std::isnan(got)) return true;
  const bool is_end =
      std::isinf(got) || (range.saturates && std::abs(got) == range.greatest);
  return is_end && std::signbit(got) == std::signbit(want);
}

/// How far off an element may be that the oracle knows.
double AllowedAt(const measure::ExactAnswer& answer, const OutputLimit& limit,
                 size_t i) {
  const double want = std::abs(answer.value.tensor()->elements<double>()[i]);
  double allowed = limit.atol + limit.rtol * want;
  if (answer.units.defined() && answer.hard_units.defined()) {
    const double roundoff = UnitRoundoff(limit.type);
    // Units are of products; what is added to them is rounded with the result.
    allowed = std::max(
        allowed, LimitOf(answer.units.elements<double>()[i],
                         answer.hard_units.elements<double>()[i], roundoff) +
                     roundoff * want);
  }
  return allowed + answer.bound.elements<double>()[i];
}

/// The norm of a number of each element, by that of the exact numbers.
template <class NumberAt>
double ShareOf(const measure::ExactAnswer& answer, const NumberAt& number_at) {
  const auto want = answer.value.tensor()->elements<double>();
  const auto bounds = answer.bound.elements<double>();
  double norm = 0;
  double size = 0;
  bool is_known = false;
  for (size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(bounds[i])) continue;
    is_known = true;
    if (!std::isfinite(want[i])) continue;
    norm = std::hypot(norm, number_at(i));
    size = std::hypot(size, want[i]);
  }
  if (!is_known && !want.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  return size > 0 ? norm / size : 0;
}

}  // namespace

std::string FaultOf(const Tensor& got, const measure::ExactAnswer& answer,
                    const OutputLimit& limit) {
  const Tensor* const value = answer.value.tensor();
  if (value == nullptr) return "";
  if (got.shape() != value->shape()) {
    return StrCat("found ", got.Signature(), ", wanted ",
                  value->shape().ToString());
  }
  const metric::FloatRange range = metric::RangeOf(limit.type);
  const auto want = value->elements<double>();
  const auto bounds = answer.bound.elements<double>();
  const std::vector<double> numbers = draw::NumbersOf(got);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(bounds[i]) || numbers[i] == want[i]) continue;
    if (std::isnan(numbers[i]) && std::isnan(want[i])) continue;
    const double allowed = AllowedAt(answer, limit, i);
    if (MayBeBeyond(range, numbers[i], want[i], allowed)) continue;
    // Any number is within a tolerance relative to infinity.
    if (std::isfinite(want[i]) && std::abs(numbers[i] - want[i]) <= allowed) {
      continue;
    }
    return InWords(static_cast<int64_t>(i), numbers[i], want[i], allowed,
                   limit.type);
  }
  return "";
}

double OpenShare(const measure::ExactAnswer& answer, const OutputLimit& limit) {
  return ShareOf(answer, [&](size_t i) { return AllowedAt(answer, limit, i); });
}

double ErrorShare(const Tensor& got, const measure::ExactAnswer& answer) {
  const std::vector<double> numbers = draw::NumbersOf(got);
  const auto want = answer.value.tensor()->elements<double>();
  const auto bounds = answer.bound.elements<double>();
  return ShareOf(answer, [&](size_t i) {
    return std::abs(numbers[i] - want[i]) + bounds[i];
  });
}

std::string InWords(int64_t index, double got, double want, double limit,
                    DType type) {
  const int digits = DecimalDigits(type);
  return StrCat("element ", index, " is ", InDigits(got, digits), ", wanted ",
                InDigits(want, digits), " within ", limit);
}

std::string InWords(int64_t index, double got,
                    const std::pair<double, double>& right, double limit,
                    DType type) {
  const int digits = DecimalDigits(type);
  return StrCat("element ", index, " is ", InDigits(got, digits),
                ", wanted one in [", InDigits(right.first, digits), ", ",
                InDigits(right.second, digits), "] within ", limit);
}

}  // namespace assay::limit
