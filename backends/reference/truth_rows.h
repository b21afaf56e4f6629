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

enum class Ask : uint8_t { kValue, kVjp, kJvp };
/// How much of a number the oracle has to know.
enum class Known : uint8_t {
  kAlways,   // a finite bound in every precision
  kInQuad,   // in more than double
  kPerhaps,  // never, if its bound says so
};

struct TruthRow {
  const char* fault;
  std::string graph;
  std::vector<Feed> feeds;
  Ask ask;
  size_t of;  // output; of a gradient, input
  size_t at;  // element
  Quad truth;
  Known known;
};

/// In every precision the truth lies within the answer's bound, which is finite
/// where the row wants it. Directions and cotangents are ones.
void ExpectTruth(const TruthRow& row);

}  // namespace assay::reference
