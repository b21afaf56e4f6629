// SPDX-License-Identifier: Apache-2.0
//
// ProblemRow: a row of the table problems, what became of one problem of a set
// (perf/problems) on a backend. ScalingRow: a row of the table scaling, how the
// times of cases that differ in one number grow with it (perf/summary).

#pragma once

#include <cstdint>
#include <string>

#include "framework/testing/record/columns.h"
#include "framework/testing/record/field.h"
#include "framework/testing/record/rows.h"

namespace assay::times {

struct ProblemRow : record::Key {
  std::string problem_set;
  int64_t n_times = 1;
  std::string axis;
  record::Integer size;
  std::string fate;
  record::Number needed_bytes, flops, least_s;
  int64_t n_elements = 0, n_judged = 0;
};

/// time ~ size^exponent. The test_id is what the cases have in common, and the
/// axis: "time/Gemm/scaling.product.gemm#size".
struct ScalingRow : record::Key {
  std::string axis, sizes, median_ns, ci95_lo_ns, ci95_hi_ns;
  record::Number exponent, ci95_lo, ci95_hi;
};

}  // namespace assay::times

namespace assay {

template <>
const record::Table& record::TableOf<times::ProblemRow>();
template <>
const record::Table& record::TableOf<times::ScalingRow>();

}  // namespace assay
