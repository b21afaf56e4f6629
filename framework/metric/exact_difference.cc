// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/exact_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "framework/metric/element.h"

namespace assay::metric {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double UlpIn(const FloatRange& range, double x) {
  const double size = std::min(std::abs(x), range.greatest);
  const int exponent = size == 0 ? range.least : std::ilogb(size);
  return std::ldexp(1, std::max(exponent, range.least) - range.digits);
}

// High and low with the same sum, where high is its nearest double (Knuth).
struct Pair {
  double high, low;
};
Pair Sum(double a, double b) {
  const double high = a + b;
  const double of_b = high - a;
  return {high, (a - (high - of_b)) + (b - of_b)};
}

// Rounds a finite number.
double RoundIn(const FloatRange& range, double value, double tail) {
  if (tail == 0 && value == 0) return value;  // -0 + 0 is 0
  const Pair sum = Sum(value, tail);
  const double ulp = UlpIn(range, sum.high);
  const double steps = sum.high / ulp;  // exact: a power of two
  double whole = std::floor(steps);
  const double rest = steps - whole;
  const bool tie = rest == 0.5 && sum.low == 0;
  const bool up = rest > 0.5 || (rest == 0.5 && sum.low > 0);
  if (up || (tie && std::fmod(whole, 2) != 0)) whole += 1;
  const double rounded = std::copysign(whole * ulp, sum.high);
  return std::abs(rounded) > range.greatest ? std::copysign(kInf, sum.high)
                                            : rounded;
}

// The nearest ranks of a summary, by selection.
UlpSummary Summarize(std::vector<double>& distances, double signed_sum,
                     int64_t n_correct) {
  const auto count = std::ssize(distances);
  auto selected = distances.begin();
  const auto at = [&](int64_t thousandths) {
    const int64_t rank = (count * thousandths + 999) / 1000;
    const auto place = distances.begin() + rank - 1;
    std::nth_element(selected, place, distances.end());
    selected = place;
    return *place;
  };
  UlpSummary summary;
  summary.p50 = at(500);
  summary.p99 = at(990);
  summary.p999 = at(999);
  summary.max = at(1000);
  summary.mean_signed = signed_sum / static_cast<double>(count);
  summary.share_zero =
      static_cast<double>(n_correct) / static_cast<double>(count);
  return summary;
}

class Comparison {
 public:
  Comparison(DType type, const ExactNumbers& want, Tolerance tolerance)
      : range_(RangeOf(type)),
        has_nan_(BitsOf(type) >= 8),
        want_(want),
        tolerance_(tolerance) {}

  void Add(double got, int64_t index) {
    const auto i = static_cast<size_t>(index);
    const double value = want_.value[i];
    const double tail = want_.tail.empty() ? 0 : want_.tail[i];
    const double rounded =
        std::isfinite(value) ? RoundIn(range_, value, tail) : value;
    const bool same_sign = std::signbit(got) == std::signbit(rounded);
    equal_ &= (got == rounded && same_sign) ||
              (std::isnan(got) && std::isnan(rounded));
    if (!std::isfinite(got) || !std::isfinite(rounded)) {
      if (!Saturates(got, rounded)) AddSpecial(got, rounded, index);
      return;
    }
    if (got == 0 && rounded == 0) {
      result_.sign_of_zero_mismatch += same_sign ? 0 : 1;
    }
    AddFinite(got, value, tail, index);
  }

  ExactDifference Finish() {
    result_.bitwise_equal = equal_;
    if (sums_.count() == 0) return result_;
    result_.errors = sums_.Summarize();
    result_.ulp = Summarize(distances_, signed_sum_, n_correct_);
    result_.greatest_bound_ulp = greatest_bound_;
    if (!want_.units.empty()) result_.greatest_unit_error = greatest_unit_;
    return result_;
  }

 private:
  bool Saturates(double got, double rounded) const {
    if (!range_.saturates || std::isfinite(rounded)) return false;
    if (std::isnan(got) || std::isnan(rounded))
      return !has_nan_ || !std::isnan(rounded);
    return std::abs(got) >= range_.greatest &&
           std::signbit(got) == std::signbit(rounded);
  }

  void AddSpecial(double got, double want, int64_t index) {
    if ((std::isnan(got) && std::isnan(want)) || got == want) return;
    ++(std::isnan(got) || std::isnan(want) ? result_.nan_mismatch
                                           : result_.inf_mismatch);
    ++result_.out_of_limit;
    result_.worst_ratio = kInf;
    Note(kInf, index);
  }

  void AddFinite(double got, double value, double tail, int64_t index) {
    const auto i = static_cast<size_t>(index);
    double bound = want_.bound.empty() ? 0 : want_.bound[i];
    if (std::isnan(bound)) bound = kInf;
    const double diff = (got - value) - tail;
    const double ulp = UlpIn(range_, value);
    const double distance = diff / ulp;
    sums_.Add(got, value, diff);
    distances_.push_back(std::abs(distance));
    signed_sum_ += distance;
    Note(std::abs(distance), index);
    // Outwards: a bound may be less than the tail has digits for.
    const bool exact = bound == 0;
    const double low = exact ? tail : std::nextafter(tail - bound, -kInf);
    const double high = exact ? tail : std::nextafter(tail + bound, kInf);
    n_correct_ += RoundIn(range_, value, low) <= got &&
                          got <= RoundIn(range_, value, high)
                      ? 1
                      : 0;
    greatest_bound_ = std::max(greatest_bound_, bound / ulp);
    if (!want_.units.empty() && want_.units[i] > 0) {
      const double unit = want_.units[i] * std::ldexp(1, -range_.digits - 1);
      greatest_unit_ = std::max(greatest_unit_, std::abs(diff) / unit);
    }
    const double limit = tolerance_.atol + tolerance_.rtol * std::abs(value);
    result_.out_of_limit += std::abs(diff) <= limit ? 0 : 1;
    const double ratio = diff == 0 ? 0 : std::abs(diff) / limit;
    result_.worst_ratio = std::max(result_.worst_ratio, ratio);
  }

  void Note(double distance, int64_t index) {
    if (distance > worst_) {
      worst_ = distance;
      result_.worst_index = index;
    }
  }

  const FloatRange range_;
  const bool has_nan_;
  const ExactNumbers& want_;
  const Tolerance tolerance_;
  ExactDifference result_;
  ErrorSums<long double> sums_;
  std::vector<double> distances_;
  double signed_sum_ = 0;
  int64_t n_correct_ = 0;
  double greatest_bound_ = 0;
  double greatest_unit_ = 0;
  double worst_ = 0;
  bool equal_ = true;
};

}  // namespace

double UlpAt(DType type, double x) { return UlpIn(RangeOf(type), x); }

double RoundTo(DType type, double value, double tail) {
  return RoundIn(RangeOf(type), value, tail);
}

ExactDifference CompareExact(const Tensor& got, const ExactNumbers& want,
                             Tolerance tolerance) {
  const DType type = got.dtype();
  Comparison comparison(type, want, tolerance);
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    comparison.Add(DecodeFloat(type, ElementBits(type, got.data(), i)), i);
  }
  return comparison.Finish();
}

}  // namespace assay::metric
