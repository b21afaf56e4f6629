// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/times/row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// The number of a row of times in five digits: more than a clock tells. With
/// all digits a table of 5,000 cases would not stay below 2 MB compressed.
template <auto kMember>
std::string FiveDigits(const void* row) {
  const record::Number& number =
      static_cast<const times::TimeRow*>(row)->*kMember;
  if (!number.has_value() || !std::isfinite(*number)) {
    return record::FieldText(number);
  }
  char text[32];
  const char* const end =
      std::to_chars(std::begin(text), std::end(text), *number,
                    std::chars_format::scientific, 4)
          .ptr;
  double rounded = 0;
  std::from_chars(text, end, rounded);
  return record::FieldText(rounded);
}

/// Writes the column in five digits where it is of this member.
template <auto kMember>
void Shorten(record::Column* column) {
  const auto whole = record::ColumnOf<times::TimeRow, kMember>("", "").text;
  if (column->text == whole) column->text = &FiveDigits<kMember>;
}

template <auto... kMembers>
record::Table InFiveDigits(record::Table table) {
  for (record::Column& column : table.columns) {
    (Shorten<kMembers>(&column), ...);
  }
  return table;
}

/// The phase, its times and how quiet the machine was.
record::Table TableOfTimes() {
  using record::ColumnOf;
  using Row = times::TimeRow;
  return record::CaseTable<Row>(
      "time",
      {ASSAY_COLUMN(phase,
                    "load, create, first, warm, cold, backward, step, "
                    "transfer, destroy"),
       ASSAY_COLUMN(cache_mode,
                    "warm, or cold: caches written over before; of models "
                    "single_stream: calls one by one, offline: in a row"),
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
       ASSAY_COLUMN(p90_lo_ns, "least of the 95 % interval of p90"),
       ASSAY_COLUMN(p90_hi_ns, "greatest of it; none below 36 samples"),
       ASSAY_COLUMN(p99_lo_ns, "least of the 95 % interval of p99"),
       ASSAY_COLUMN(p99_hi_ns, "greatest of it; none below 368 samples"),
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
       ASSAY_COLUMN(load1, "tasks that ran or waited, over a minute"),
       ASSAY_COLUMN(celsius, "of the hottest zone, at the end"),
       ASSAY_COLUMN(noisy, "the machine was not quiet, twice")});
}

/// How near a call comes to the limits of the machine, and what it takes.
std::vector<record::Column> ColumnsOfLimits() {
  using record::ColumnOf;
  using Row = times::TimeRow;
  return {
      ASSAY_COLUMN(flops, "floating-point operations of a call"),
      ASSAY_COLUMN(bytes, "that a call reads and writes at least"),
      ASSAY_COLUMN(gflop_s, "flops over the median, in 1e9"),
      ASSAY_COLUMN(gb_s, "bytes over the median, in 1e9"),
      ASSAY_COLUMN(intensity, "flops over bytes"),
      ASSAY_COLUMN(peak_gflop_s, "compute roof"),
      ASSAY_COLUMN(peak_gb_s, "bandwidth roof of the level of the bytes"),
      ASSAY_COLUMN(roof_frac, "share of the roof that is nearer"),
      ASSAY_COLUMN(bound,
                   "that roof: compute, L1, memory; else why none is, or "
                   "undecided with both numbers"),
      ASSAY_COLUMN(instructions, "of a call, outside of the kernel"),
      ASSAY_COLUMN(alloc_count, "allocations of a call, rounded up"),
      ASSAY_COLUMN(alloc_bytes, "bytes of them, rounded up"),
      ASSAY_COLUMN(peak_rss_kb,
                   "most memory of the backend's process during warm calls"),
      ASSAY_COLUMN(steady_rss_kb, "its memory behind them"),
      ASSAY_COLUMN(model_samples_s,
                   "inputs of a whole model in a second, over the mean"),
      ASSAY_COLUMN(samples_file, "raw samples, below the run's folder")};
}

}  // namespace

template <>
const record::Table& record::TableOf<times::TimeRow>() {
  using Row = times::TimeRow;
  static const Table table = [] {
    Table whole = TableOfTimes();
    std::ranges::move(ColumnsOfLimits(), std::back_inserter(whole.columns));
    return InFiveDigits<
        &Row::min_ns, &Row::p25_ns, &Row::median_ns, &Row::p75_ns, &Row::p90_ns,
        &Row::p99_ns, &Row::max_ns, &Row::mean_ns, &Row::stdev_ns,
        &Row::ci95_lo_ns, &Row::ci95_hi_ns, &Row::lag1_autocorr,
        &Row::timer_overhead_ns, &Row::psi_cpu_some_pct, &Row::gflop_s,
        &Row::gb_s, &Row::intensity, &Row::roof_frac>(std::move(whole));
  }();
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
const record::Table& record::TableOf<times::RoofRow>() {
  using Row = times::RoofRow;
  static const Table table = CaseTable<Row>(
      "roofs",
      {ASSAY_COLUMN(moment,
                    "of the run: start, at the first case that needs it; "
                    "again, as a case was above; middle, end"),
       ASSAY_COLUMN(level, "compute, or the level of memory: L1, memory"),
       ASSAY_COLUMN(type, "of arithmetic"),
       ASSAY_COLUMN(threads, "at the same time"),
       ASSAY_COLUMN(gflop_s, "operations, in 1e9 a second, median"),
       ASSAY_COLUMN(gb_s, "bytes, in 1e9 a second, median"),
       ASSAY_COLUMN(ci95_lo, "least of the 95 % interval of the median"),
       ASSAY_COLUMN(ci95_hi, "greatest of it, by order statistics"),
       ASSAY_COLUMN(n_samples, "of the thread that has fewest"),
       ASSAY_COLUMN(bytes, "that each thread went through"),
       ASSAY_COLUMN(code, "instruction set and loop that were fastest"),
       ASSAY_COLUMN(none, "why there is no roof")});
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
       ASSAY_COLUMN(n_groups, "of blocks, each behind other bindings"),
       ASSAY_COLUMN(base_ns, "median of a call of the base"),
       ASSAY_COLUMN(candidate_ns, "median of a call of the backend"),
       ASSAY_COLUMN(ratio, "candidate over base, by signed ranks of groups"),
       ASSAY_COLUMN(ci95_lo, "least of its 95 % interval"),
       ASSAY_COLUMN(ci95_hi, "greatest of it, by signed ranks"),
       ASSAY_COLUMN(p_value, "of equal times, by signed ranks of groups"),
       ASSAY_COLUMN(lag1_autocorr, "correlation of a group with the next"),
       ASSAY_COLUMN(log_ratios, "of the groups: medians of their blocks"),
       ASSAY_COLUMN(noisy, "the machine was not quiet")});
  return table;
}

template <>
const record::Table& record::TableOf<times::OverheadRow>() {
  using Row = times::OverheadRow;
  static const Table table = CaseTable<Row>(
      "overhead",
      {ASSAY_COLUMN(native_median_ns, "of a call of the library, median"),
       ASSAY_COLUMN(framework_median_ns, "of the same by the backend, median"),
       ASSAY_COLUMN(paired_ratio, "framework over native, median of blocks"),
       ASSAY_COLUMN(ratio_ci95_lo, "least of its 95 % interval"),
       ASSAY_COLUMN(ratio_ci95_hi, "greatest of it, by order statistics"),
       ASSAY_COLUMN(delta_ns, "framework less native, median of blocks"),
       ASSAY_COLUMN(delta_ci95_lo_ns, "least of its 95 % interval"),
       ASSAY_COLUMN(delta_ci95_hi_ns, "greatest of it"),
       ASSAY_COLUMN(native_instructions, "of a call of the library, counted"),
       ASSAY_COLUMN(framework_instructions, "of the same by the backend"),
       ASSAY_COLUMN(n_pairs, "blocks of two samples each of both"),
       ASSAY_COLUMN(eigen_median_ns, "of the same by Eigen, median")});
  return table;
}

}  // namespace assay

namespace assay::times {
namespace {

const bool kAdded = record::AddTable(record::TableOf<TimeRow>()) &&
                    record::AddTable(record::TableOf<TimeSamplesRow>()) &&
                    record::AddTable(record::TableOf<RoofRow>()) &&
                    record::AddTable(record::TableOf<CompareRow>()) &&
                    record::AddTable(record::TableOf<OverheadRow>());

}  // namespace
}  // namespace assay::times
