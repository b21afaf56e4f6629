// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/times/row.h"

namespace assay {

template <>
const record::Table& record::TableOf<times::TimeRow>() {
  using Row = times::TimeRow;
  static const Table table = CaseTable<Row>(
      "time",
      {ASSAY_COLUMN(phase,
                    "load, create, first, warm, cold, backward, step, "
                    "transfer, destroy"),
       ASSAY_COLUMN(cache_mode, "warm, or cold: caches written over before"),
       ASSAY_COLUMN(threads, "of the backend, where its settings say it"),
       ASSAY_COLUMN(inner_iters, "calls of a sample"),
       ASSAY_COLUMN(n_samples, "that the numbers are of"),
       ASSAY_COLUMN(min_ns, "least"),
       ASSAY_COLUMN(p25_ns, "25th percentile"),
       ASSAY_COLUMN(median_ns, "median"),
       ASSAY_COLUMN(p75_ns, "75th percentile"),
       ASSAY_COLUMN(p90_ns, "90th percentile"),
       ASSAY_COLUMN(p99_ns, "99th percentile"),
       ASSAY_COLUMN(max_ns, "greatest"),
       ASSAY_COLUMN(mean_ns, "mean"),
       ASSAY_COLUMN(stdev_ns, "standard deviation of a sample"),
       ASSAY_COLUMN(ci95_lo_ns, "least of the 95 % interval of the median"),
       ASSAY_COLUMN(ci95_hi_ns, "greatest of it, by order statistics"),
       ASSAY_COLUMN(n_outlier_mild,
                    "samples beyond 1.5 quartile ranges, within 3"),
       ASSAY_COLUMN(n_outlier_severe, "samples beyond 3; all are kept"),
       ASSAY_COLUMN(lag1_autocorr, "correlation of a sample with the next"),
       ASSAY_COLUMN(stop_reason,
                    "why no more were taken: half_width, stabilised, budget, "
                    "count"),
       ASSAY_COLUMN(warmup_iters, "calls before the first sample"),
       ASSAY_COLUMN(timer_overhead_ns, "to read the clock, median"),
       ASSAY_COLUMN(steal_ticks, "taken by other machines meanwhile"),
       ASSAY_COLUMN(psi_cpu_some_pct, "share of time that work waited"),
       ASSAY_COLUMN(noisy, "the machine was not quiet"),
       ASSAY_COLUMN(flops, "floating-point operations of a call"),
       ASSAY_COLUMN(bytes, "that a call reads and writes at least"),
       ASSAY_COLUMN(gflop_s, "flops over the median, in 1e9"),
       ASSAY_COLUMN(gb_s, "bytes over the median, in 1e9"),
       ASSAY_COLUMN(intensity, "flops over bytes"),
       ASSAY_COLUMN(peak_gflop_s, "compute roof"),
       ASSAY_COLUMN(peak_gb_s, "bandwidth roof"),
       ASSAY_COLUMN(roof_frac, "of the roof over it"),
       ASSAY_COLUMN(instructions, "of a call"),
       ASSAY_COLUMN(alloc_count, "allocations of a call"),
       ASSAY_COLUMN(alloc_bytes, "bytes of them"),
       ASSAY_COLUMN(peak_rss_kb, "of the backend's process so far"),
       ASSAY_COLUMN(samples_file, "raw samples, below the run's folder")});
  return table;
}

template <>
const record::Table& record::TableOf<times::TimeSamplesRow>() {
  using Row = times::TimeSamplesRow;
  static const Table table = CaseTable<Row>(
      "time_samples",
      {ASSAY_COLUMN(phase, "as in time"),
       ASSAY_COLUMN(first, "place of the first of these, from 0"),
       ASSAY_COLUMN(ns, "of each sample, inner_iters calls together")});
  return table;
}

template <>
const record::Table& record::TableOf<times::CompareRow>() {
  using Row = times::CompareRow;
  static const Table table = CaseTable<Row>(
      "compare",
      {ASSAY_COLUMN(base, "instance that the backend is timed beside"),
       ASSAY_COLUMN(inner_iters, "calls of a sample"),
       ASSAY_COLUMN(n_blocks, "of two samples each of both"),
       ASSAY_COLUMN(base_ns, "median of a call of the base"),
       ASSAY_COLUMN(candidate_ns, "median of a call of the backend"),
       ASSAY_COLUMN(ratio, "candidate over base, median of the blocks"),
       ASSAY_COLUMN(ci95_lo, "least of its 95 % interval"),
       ASSAY_COLUMN(ci95_hi, "greatest of it, by order statistics"),
       ASSAY_COLUMN(p_value, "of equal times, by signed ranks of blocks"),
       ASSAY_COLUMN(lag1_autocorr, "correlation of a block with the next"),
       ASSAY_COLUMN(noisy, "the machine was not quiet")});
  return table;
}

}  // namespace assay

namespace assay::times {
namespace {

const bool kAdded = record::AddTable(record::TableOf<TimeRow>()) &&
                    record::AddTable(record::TableOf<TimeSamplesRow>()) &&
                    record::AddTable(record::TableOf<CompareRow>());

}  // namespace
}  // namespace assay::times
