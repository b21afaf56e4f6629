// SPDX-License-Identifier: Apache-2.0
//
// Compare: every element of a gradient against the exact one.
//
//   const Compared found = Compare(got, answer, {.type = DType::kFloat32});
//   if (found.beyond > 0) Report(found.worst);
//
// An element may be off by its limit (framework/testing/limit) and by the oracle's bound. An
// accumulator of more digits narrows the limit of each element, what a sum at a
// kink may be off by, and the limit that no order of rounding exceeds; it does
// not narrow what two small errors make of a product, of which either may be the
// last rounding, in the type's own roundoff; and an integer must be exact where
// the accumulator rounds no sum and the type has the result. Where
// the oracle's hull has a width the element stands at a kink, and whatever lies
// in the hull is right. What the oracle does not know is counted and not judged.

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
  /// The answer for cotangents none of which is zero; null where those compared
  /// are such. Where it is infinite, none or not known, zero times it, which is
  /// 0 here, may be NaN (IEEE 754, 7.2).
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
  /// The limit is made of these: condition units, the depth of rounding, and
  /// how far off the exact gradient may be.
  double units = 0, depth = 1, bound = 0;
  /// All that the gradient may be there; nothing where that is one number.
  std::optional<std::pair<double, double>> hull = {};
};

/// "element 9 is -1.5, wanted 1.5 within 1e-06", in so many digits that a number
/// of the type is told from its neighbours.
std::string InWords(const Element& element, DType type);

struct Compared {
  /// What was found and wanted where type or shape is another; the rest is then
  /// not filled.
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
  /// Of each element: what it may be off by. Infinite where it is not judged.
  std::vector<double> limits;
};

Compared Compare(const Tensor& got, const measure::ExactAnswer& answer,
                 const Yardstick& yardstick);

}  // namespace assay::gradcheck
