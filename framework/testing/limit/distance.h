// SPDX-License-Identifier: Apache-2.0
//
// Distance: how far a value is from an oracle's answer, in limits. 1 is at the
// limit, and an error of 2 is twice as far as roundings explain. The limit is
// that of limit.h in units, and at least 64 roundoffs of the greatest number of
// the tensor.
//
//   const Distance own = DistanceOf(got, answer);
//   if (own.limits > 1) Report(own.fault);
//
// The tolerance of a case is not in it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "framework/core/dtype.h"
#include "framework/core/value.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::limit {

struct Distance {
  /// The greatest of all known elements; infinite where nothing but the right
  /// value is allowed, as of an integer.
  double limits = 0;
  std::string fault;  // that one in words, where it is beyond 1
  double least = 0;   // limit of an element, as a number
  int64_t n_elements = 0;
  int64_t n_known = 0;  // whose right value and whose limit are known
};

/// Values in sequences and optionals have no units: one that is off by more
/// than a rounding is not known. A value that is no number is one element.
Distance DistanceOf(const Value& got, const measure::ExactAnswer& answer);

/// The distance between what is right for the network as a whole and what is
/// right for a node that was given wrong numbers: at least so many limits of
/// the node, as an output of this type. None where no element of both is known.
std::optional<double> InheritedOf(const measure::ExactAnswer& network,
                                  const measure::ExactAnswer& node, DType type);

}  // namespace assay::limit
