// SPDX-License-Identifier: Apache-2.0
//
// Compare: every element of a gradient against the exact one.
//
// An element may be off by its limit and by the oracle's bound. The limit is
// the sum of three parts, with u the roundoff of the type, a that of the
// accumulator (u where none is claimed), r the depth of rounding
// (framework/testing/limit) and q the least positive number of the type:
//
//     (4 sqrt(r) a + 2 u) units   rounding, to first order
//     u (greatest of these)       a product of two small errors
//     r q                         underflow
//
// An element of the class exact must be exact, where the oracle's answer is, no
// sum is rounded and the type holds the result. At a kink, where the oracle's
// hull has a width, every number in the hull is right, within the first part
// and q. An infinite derivative must be infinite with the same sign. Where a
// cotangent of zero may meet an infinite derivative, NaN is right. An element
// that the oracle does not know is counted and not judged.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::gradcheck {

struct Yardstick {
  DType type = DType::kFloat32;  // whose roundoff errors are counted in
  /// True where sums of a few binary digits must be exact.
  bool exact = false;
  /// The answer for cotangents without a zero; null where the cotangents that
  /// are compared have no zero either. Where this answer is infinite, NaN or
  /// unknown, zero times it may be NaN (IEEE 754, 7.2), although the exact
  /// gradient is 0.
  const measure::ExactAnswer* without_zeros = nullptr;
  /// The type that sums are kept in, of no fewer digits; nothing: `type`.
  std::optional<DType> accumulator = {};
};

struct Element {
  int64_t index = -1;
  double want = 0;
  double got = 0;
  double limit = 0;
  double hard_limit = 0;
  /// Error over limit; infinite where one side is not a number.
  double share = -1;
  /// The parts of the limit: condition units, the depth of rounding, and the
  /// oracle's bound.
  double units = 0, depth = 1, bound = 0;
  /// The values that the gradient may have at a kink; nothing elsewhere.
  std::optional<std::pair<double, double>> hull = {};
};

/// "element 9 is -1.5, wanted 1.5 within 1e-06", in so many digits that a
/// number of the type is told from its neighbours.
std::string InWords(const Element& element, DType type);

struct Compared {
  /// Says what was found and wanted where type or shape differs. The rest is
  /// not filled then.
  std::string mismatch;
  int64_t count = 0;
  int64_t beyond = 0;        // the limit
  int64_t nan_mismatch = 0;  // among those
  int64_t unknown = 0;
  int64_t refused = 0;  // the oracle's bound is too wide beside the limit
  int64_t kinks = 0;
  int64_t zeros = 0;       // exact ones
  int64_t telling = 0;     // judged, and neither zero nor open
  int64_t non_finite = 0;  // exact ones: an infinite derivative, or none
  Element worst;
  double greatest_bound = 0;  // as a share of the limit
  double max_abs_err = 0, max_rel_err = 0;
  double max_units = 0, p99_units = 0, rms_units = 0;
  std::string convention;  // at kinks
  double sum = 0;          // of the backend's elements
  double sum_limit = 0;
  /// How far each element may be off; infinite where it is not judged.
  std::vector<double> limits;
};

Compared Compare(const Tensor& got, const measure::ExactAnswer& answer,
                 const Yardstick& yardstick);

struct Beside {
  /// Names the first element that is too far off, as "element 3 of the gradient
  /// of 'x' is 1, wanted 2"; empty where none is.
  std::string fault;
  double greatest = 0;  // error over limit
};

/// Gradients that were compared with the exact ones, with the limit of each
/// element. The same gradients, taken in another way, are compared with these.
struct Judged {
  std::span<const std::string> targets;
  std::span<const Value> dy;
  std::span<const Value> gradients;
  std::span<const Compared> compared;  // one for each target

  /// Compares `others`, one for each target, with `factor` times these
  /// gradients. Two right gradients are at most two limits apart. An element
  /// that is not judged, as at a kink, is skipped.
  Beside Hold(std::span<const Value> others, double factor = 1) const;
  /// Does the same for one target.
  Beside HoldOne(size_t target, const Value& other, double factor = 1) const;
};

}  // namespace assay::gradcheck
