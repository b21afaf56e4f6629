// SPDX-License-Identifier: Apache-2.0
//
// Rows of tests that hold the oracle against exact numbers. The truth of each
// is worked out by hand, beside it.

#pragma once

#include <string>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/number/quad.h"

namespace assay::reference {

enum class Ask : uint8_t { kValue, kGradient, kTangent };
/// How much of a number the oracle has to know.
enum class Known : uint8_t {
  kAlways,   // a finite bound in every precision
  kPerhaps,  // never, if its bound says so
};

/// The exact number of an element of an answer.
struct Truth {
  Ask ask;
  size_t of;  // output; of a gradient, input
  size_t at;  // element
  Quad number;
  Known known;
};

// Numbers are of type Quad, or become such.
template <class Number>
Truth ValueIs(size_t at, Number number, Known known = Known::kAlways) {
  return {Ask::kValue, 0, at, Quad(number), known};
}
template <class Number>
Truth GradientIs(size_t input, size_t at, Number number,
                 Known known = Known::kAlways) {
  return {Ask::kGradient, input, at, Quad(number), known};
}
template <class Number>
Truth TangentIs(size_t at, Number number, Known known = Known::kAlways) {
  return {Ask::kTangent, 0, at, Quad(number), known};
}

struct TruthRow {
  const char* fault;
  std::string graph;
  std::vector<Feed> feeds;
  Truth truth;
};

/// In every precision the truth lies within the answer's bound, which is finite
/// where the row wants it. Directions and cotangents are ones.
void ExpectTruths(const std::vector<TruthRow>& rows);

}  // namespace assay::reference
