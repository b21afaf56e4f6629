// SPDX-License-Identifier: Apache-2.0
//
// Twins: ONNX's corpus has many cases twice, once with an operator and once
// with its function body in its place. Their exact answers must agree: then an
// oracle's kernel computes the operator as it is defined, apart from rounding.
//
//   const Twins twins = CompareTwins(of_operator, of_body);
//   if (twins.relative > kTwinsAgree) Show(twins.where);
//
// The unit is the largest magnitude of the output: a body may sum terms of that
// size which cancel, so that small elements are as far off as large ones.

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "framework/backend/exact.h"
#include "framework/core/status.h"

namespace assay::oracle {

/// Double precision's roundoff is 1.1e-16; this leaves four digits for what the
/// two orders of computing amplify.
inline constexpr double kTwinsAgree = 1e-12;

struct Twins {
  /// The greatest |a - b| of an output over its largest magnitude; infinite
  /// where kinds, types, shapes, integers, strings, NaN or infinities differ.
  double relative = 0;
  std::string where;  // the element, with both numbers; empty: none differs
};

Twins CompareTwins(std::span<const ExactValue> a,
                   std::span<const ExactValue> b);

/// A disagreement that is understood, or a twin that the oracle declines.
struct KnownTwins {
  double most = 0;  // relative; 0: declined
  std::string because;
};

/// Lines "CASE MOST BECAUSE", MOST being a number or the word declined; those
/// that begin with '#' and empty ones are none. Invalid argument with the line
/// for others and for a case that stands there twice.
Result<std::map<std::string, KnownTwins>> ParseKnownTwins(
    std::string_view text);

/// The case whose operator an `_expanded` one is the body of; empty where the
/// name is of none.
std::string TwinOf(std::string_view expanded);

}  // namespace assay::oracle
