// SPDX-License-Identifier: Apache-2.0
//
// TimeRow: a row of time.csv, one phase of one case. OverheadRow: a row of
// overhead.csv, one computation natively and through the framework.
//
//   times::OverheadRow row;
//   row.delta_ns = 21.5;
//   const std::string text = record::ToCsv(std::vector{row});

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
      mean_ns, stdev_ns, ci95_lo_ns, ci95_hi_ns, p90_lo_ns, p90_hi_ns,
      p99_lo_ns, p99_hi_ns;
  int64_t n_outlier_mild = 0, n_outlier_severe = 0;
  record::Number lag1_autocorr;
  std::string stop_reason;
  int64_t warmup_iters = 0;
  record::Number timer_overhead_ns;
  record::Integer steal_ticks;
  record::Number psi_cpu_some_pct, load1, celsius;
  bool noisy = false;
  record::Number flops, bytes, gflop_s, gb_s, intensity, peak_gflop_s,
      peak_gb_s, roof_frac;
  std::string bound;
  record::Integer instructions, alloc_count, alloc_bytes, peak_rss_kb,
      steady_rss_kb;
  record::Number model_samples_s;
  std::string samples_file;
};

/// A row of the table `roofs`: the most that the machine does, measured beside
/// the case (perf/roofs). Either of both rates; none of them where there is no
/// roof.
struct RoofRow : record::Key {
  std::string moment, level, type;
  int64_t threads = 1;
  record::Number gflop_s, gb_s, ci95_lo, ci95_hi;
  int64_t n_samples = 0, bytes = 0;
  std::string code, none;
};

/// A row of the table `compare`: one case on a backend and on the one beside
/// it, the base, in groups of blocks of two times each
/// (framework/timing/pairs.h). Ratios are the backend's time over the base's.
struct CompareRow : record::Key {
  std::string base;
  int64_t inner_iters = 1, n_blocks = 0, n_groups = 0;
  record::Number base_ns, candidate_ns;
  record::Number ratio, ci95_lo, ci95_hi, p_value, lag1_autocorr;
  std::string log_ratios;  // of the groups, separated by blanks
  bool noisy = false;
};

/// A row of the table `overhead`: the calls of a library beside those of a
/// backend on it, over the same memory, in blocks of two times each. Times are
/// of one call. Instructions are counted, on a lesser instruction set.
struct OverheadRow : record::Key {
  record::Number native_median_ns, framework_median_ns;
  record::Number paired_ratio, ratio_ci95_lo, ratio_ci95_hi;
  record::Number delta_ns, delta_ci95_lo_ns, delta_ci95_hi_ns;
  record::Integer native_instructions, framework_instructions;
  int64_t n_pairs = 0;  // blocks
  record::Number eigen_median_ns;
};

}  // namespace assay::times

namespace assay {

template <>
const record::Table& record::TableOf<times::TimeRow>();
template <>
const record::Table& record::TableOf<times::TimeSamplesRow>();

template <>
const record::Table& record::TableOf<times::RoofRow>();

template <>
const record::Table& record::TableOf<times::CompareRow>();
template <>
const record::Table& record::TableOf<times::OverheadRow>();

}  // namespace assay
