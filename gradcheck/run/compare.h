// SPDX-License-Identifier: Apache-2.0
//
// Compare: every element of a gradient against the exact one.
//
//   const Compared found = Compare(got, answer, {.type = DType::kFloat32});
//   if (found.beyond > 0) Report(found.worst);
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
// - An element of the class exact must be exact, where the oracle's answer is,
//   no sum is rounded and the type holds the result.
// - At a kink, where the oracle's hull has a width, all that lies in the hull
//   is right, within the first part and q.
// - An infinite derivative must be infinite with the same sign.
// - Where a cotangent of zero may meet an infinite derivative, NaN is right.
// - An element that the oracle does not know is counted and not judged.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"
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
  double sum = 0;          // of what was got
  double sum_limit = 0;
  /// How far each element may be off; infinite where it is not judged.
  std::vector<double> limits;
};

Compared Compare(const Tensor& got, const measure::ExactAnswer& answer,
                 const Yardstick& yardstick);

}  // namespace assay::gradcheck
