// SPDX-License-Identifier: Apache-2.0
//
// TimeRow: a row of time.csv, one phase of one case.

#pragma once

#include <string>

#include "framework/testing/record/columns.h"
#include "framework/testing/record/rows.h"

namespace assay::times {

/// Samples of a phase as they were taken: nanoseconds of each, all its calls
/// together. A phase of many samples has several rows.
struct TimeSamplesRow : record::Key {
  std::string phase;
  int64_t first = 0;  // which of the samples, from 0
  std::string ns;     // separated by blanks
};

/// Times are those of one call, in nanoseconds.
struct TimeRow : record::Key {
  std::string phase, cache_mode;
  record::Integer threads;
  int64_t inner_iters = 1, n_samples = 0;
  record::Number min_ns, p25_ns, median_ns, p75_ns, p90_ns, p99_ns, max_ns,
      mean_ns, stdev_ns, ci95_lo_ns, ci95_hi_ns;
  int64_t n_outlier_mild = 0, n_outlier_severe = 0;
  record::Number lag1_autocorr;
  std::string stop_reason;
  int64_t warmup_iters = 0;
  record::Number timer_overhead_ns;
  record::Integer steal_ticks;
  record::Number psi_cpu_some_pct;
  bool noisy = false;
  record::Number flops, bytes, gflop_s, gb_s, intensity, peak_gflop_s,
      peak_gb_s, roof_frac;
  record::Integer instructions, alloc_count, alloc_bytes, peak_rss_kb;
  std::string samples_file;
};

/// A row of the table `compare`: one case on a backend and on the one beside
/// it, the base, in blocks of two times each (framework/timing/pairs.h). Ratios
/// are the backend's time over the base's.
struct CompareRow : record::Key {
  std::string base;
  int64_t inner_iters = 1, n_blocks = 0;
  record::Number base_ns, candidate_ns;
  record::Number ratio, ci95_lo, ci95_hi, p_value, lag1_autocorr;
  bool noisy = false;
};

}  // namespace assay::times

namespace assay {

template <>
const record::Table& record::TableOf<times::TimeRow>();
template <>
const record::Table& record::TableOf<times::TimeSamplesRow>();

template <>
const record::Table& record::TableOf<times::CompareRow>();

}  // namespace assay
