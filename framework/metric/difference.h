// SPDX-License-Identifier: Apache-2.0
//
// Difference: every number about how far one tensor is from another, taken in
// one pass, without a verdict.
//
//   const Difference d = Compare(got, want, {.rtol = 1e-3, .atol = 1e-7});
//   if (d.out_of_limit > 0) Show(d.worst_index, d.worst_ratio);
//
// Floats are within limits when |got - want| <= atol + rtol * |want|, computed
// as numpy.testing.assert_allclose computes it: in the element type for
// float16, float32, float64 and complex; in float32 for bfloat16 and narrower
// types, which numpy cannot compute in. NaN agrees with NaN only, an infinity
// only with itself. Integers and booleans agree when equal. Moduli of complex64
// are hypot's; numpy's vector code rounds them otherwise, so that the two may
// disagree within two units in the last place of the limit.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/metric/element.h"

namespace assay::metric {

/// Distances of `got` from `want` over n finite pairs.
struct Errors {
  double min_diff = 0;  // of got - want
  double max_diff = 0;
  double max_abs = 0;  // max |got - want|
  /// max |got - want| / |want|. A pair of zeros counts 0; another with want 0
  /// is left out (as numpy.testing leaves it out); absent when all were.
  std::optional<double> max_rel;
  double rmse = 0;    // sqrt(sum (got - want)^2 / n)
  double rel_l2 = 0;  // |got - want|_2 / |want|_2; 0 / 0 is 0
  double cosine = 0;  // <got, want> / (|got|_2 |want|_2); 1 for two zeros
};

/// Norms of a difference, gathered in one pass: add each pair, then ask. `Sum`
/// is the type in which squares are summed: double, or long double for elements
/// whose squares do not fit a double.
template <class Sum>
class ErrorSums {
 public:
  /// `diff` is got - want, given apart since integers subtract exactly.
  void Add(double got, double want, double diff) {
    AddComponent(got, want, diff);
    AddMagnitude(std::abs(diff), std::abs(want));
  }

  /// One component of an element, and then once the moduli of the element:
  /// for complex numbers.
  void AddComponent(double got, double want, double diff) {
    min_diff_ = std::min(min_diff_, diff);
    max_diff_ = std::max(max_diff_, diff);
    const Sum g = got;
    const Sum w = want;
    const Sum d = diff;
    got2_ += g * g;
    want2_ += w * w;
    diff2_ += d * d;
    dot_ += g * w;
  }
  void AddMagnitude(double error, double want) {
    ++count_;
    max_abs_ = std::max(max_abs_, error);
    const double zero_over_zero = error > 0 ? kLeftOut : 0;
    max_rel_ = std::max(max_rel_, want > 0 ? error / want : zero_over_zero);
  }

  int64_t count() const { return count_; }

  /// Needs at least one element.
  Errors Summarize() const {
    Errors errors;
    errors.min_diff = min_diff_;
    errors.max_diff = max_diff_;
    errors.max_abs = max_abs_;
    if (max_rel_ >= 0) errors.max_rel = max_rel_;
    errors.rmse =
        static_cast<double>(std::sqrt(diff2_ / static_cast<Sum>(count_)));
    if (diff2_ > 0) {
      errors.rel_l2 = want2_ > 0
                          ? static_cast<double>(std::sqrt(diff2_ / want2_))
                          : std::numeric_limits<double>::infinity();
    }
    const Sum lengths = std::sqrt(got2_) * std::sqrt(want2_);
    if (lengths > 0) {
      errors.cosine = std::clamp(static_cast<double>(dot_ / lengths), -1., 1.);
    } else {
      errors.cosine = got2_ == want2_ ? 1 : 0;
    }
    return errors;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kLeftOut = -1;

  int64_t count_ = 0;
  double min_diff_ = kInfinity;
  double max_diff_ = -kInfinity;
  double max_abs_ = 0;
  double max_rel_ = kLeftOut;
  Sum got2_ = 0;
  Sum want2_ = 0;
  Sum diff2_ = 0;
  Sum dot_ = 0;
};

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

struct Difference {
  int64_t nan_mismatch = 0;  // NaN on one side only
  int64_t inf_mismatch = 0;  // infinite on one side, or of other signs
  int64_t sign_of_zero_mismatch = 0;
  int64_t out_of_limit = 0;  // the mismatches of NaN and infinity included
  bool bitwise_equal = false;
  /// Over elements finite on both sides; absent when there are none.
  std::optional<Errors> errors;
  /// Over the same, in the element type; real float types only.
  std::optional<UlpSummary> ulp;
  /// The first element with the largest |got - want| / (atol + rtol * |want|),
  /// where a mismatch of NaN or infinity counts as infinite; for integers the
  /// first with the largest |got - want|. -1 when that largest is zero.
  int64_t worst_index = -1;
  double worst_ratio = 0;  // for integers 0, or infinity
};

/// Both tensors must be in CPU memory, of one element type other than string,
/// and have as many elements; extents are not looked at. Tolerance is for
/// float and complex types.
Difference Compare(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// The ratio of every element, of which Compare keeps the largest; |got - want|
/// for integers. The tensors are those of Compare.
std::vector<double> RatiosOf(const Tensor& got, const Tensor& want,
                             Tolerance tolerance);

}  // namespace assay::metric
