// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/limit.h"

#include <iomanip>
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

}  // namespace

std::string FaultOf(const Tensor& got, const measure::ExactAnswer& answer,
                    const OutputLimit& limit) {
  const Tensor* const value = answer.value.tensor();
  if (value == nullptr) return "";
  if (got.shape() != value->shape()) {
    return StrCat("found ", got.Signature(), ", wanted ",
                  value->shape().ToString());
  }
  const double roundoff = UnitRoundoff(limit.type);
  const metric::FloatRange range = metric::RangeOf(limit.type);
  const auto want = value->elements<double>();
  const auto bounds = answer.bound.elements<double>();
  const auto part = [](const Tensor& tensor) {
    return tensor.defined() ? tensor.elements<double>()
                            : std::span<const double>();
  };
  const auto units = part(answer.units);
  const auto hard = part(answer.hard_units);
  const std::vector<double> numbers = draw::NumbersOf(got);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(bounds[i]) || numbers[i] == want[i]) continue;
    if (std::isnan(numbers[i]) && std::isnan(want[i])) continue;
    double allowed = limit.atol + limit.rtol * std::abs(want[i]);
    if (!units.empty() && !hard.empty()) {
      // Units are of products; what is added to them is rounded with the
      // result.
      allowed = std::max(allowed, LimitOf(units[i], hard[i], roundoff) +
                                      roundoff * std::abs(want[i]));
    }
    allowed += bounds[i];
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

std::string InWords(int64_t index, double got, double want, double limit,
                    DType type) {
  const int digits = DecimalDigits(type);
  return StrCat("element ", index, " is ", InDigits(got, digits), ", wanted ",
                InDigits(want, digits), " within ", limit);
}

}  // namespace assay::limit
