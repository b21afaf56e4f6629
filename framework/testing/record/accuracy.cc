// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/accuracy.h"

#include <vector>

#include "framework/testing/record/columns.h"

namespace assay::record {
namespace {

using Row = AccuracyRow;

/// A number: its column, and the step from the metric.
struct TakenNumber {
  Column column;
  void (*take)(const metric::ExactDifference& from, AccuracyNumbers* to);
};

/// The number kTo is the member kFrom of a difference.
template <Number AccuracyNumbers::*kTo, auto kFrom>
TakenNumber NumberOf(std::string_view name, std::string_view doc) {
  return {ColumnOf<Row, kTo>(name, doc),
          [](const metric::ExactDifference& from, AccuracyNumbers* to) {
            to->*kTo = from.*kFrom;
          }};
}

/// The number kTo is the member kFrom of a part, absent where that is.
template <Number AccuracyNumbers::*kTo, auto kPart, auto kFrom>
TakenNumber NumberOf(std::string_view name, std::string_view doc) {
  return {ColumnOf<Row, kTo>(name, doc),
          [](const metric::ExactDifference& from, AccuracyNumbers* to) {
            const auto& part = from.*kPart;
            to->*kTo = part.has_value() ? Number((*part).*kFrom) : Number();
          }};
}

const std::vector<TakenNumber>& Numbers() {
  static const auto* numbers = new std::vector<TakenNumber>{
      NumberOf<&Row::min_diff, &metric::Difference::errors,
               &metric::Errors::min_diff>("min_diff", "least got - want"),
      NumberOf<&Row::max_diff, &metric::Difference::errors,
               &metric::Errors::max_diff>("max_diff", "greatest got - want"),
      NumberOf<&Row::max_abs_err, &metric::Difference::errors,
               &metric::Errors::max_abs>("max_abs_err",
                                         "greatest |got - want|"),
      NumberOf<&Row::max_rel_err, &metric::Difference::errors,
               &metric::Errors::max_rel>("max_rel_err",
                                         "greatest |got - want| / |want|"),
      NumberOf<&Row::max_ulp, &metric::Difference::ulp,
               &metric::UlpSummary::max>(
          "max_ulp", "greatest distance in ULP, to an oracle in fractions"),
      NumberOf<&Row::p50_ulp, &metric::Difference::ulp,
               &metric::UlpSummary::p50>("p50_ulp", "median distance in ULP"),
      NumberOf<&Row::p99_ulp, &metric::Difference::ulp,
               &metric::UlpSummary::p99>("p99_ulp", "99th percentile in ULP"),
      NumberOf<&Row::p999_ulp, &metric::Difference::ulp,
               &metric::UlpSummary::p999>("p999_ulp",
                                          "99.9th percentile in ULP"),
      NumberOf<&Row::mean_signed_ulp, &metric::Difference::ulp,
               &metric::UlpSummary::mean_signed>("mean_signed_ulp",
                                                 "bias in ULP"),
      NumberOf<&Row::share_correctly_rounded, &metric::Difference::ulp,
               &metric::UlpSummary::share_zero>(
          "share_correctly_rounded",
          "elements equal to want, or to the oracle rounded; empty where its "
          "bound is too wide"),
      NumberOf<&Row::max_unit_err,
               &metric::ExactDifference::greatest_unit_error>(
          "max_unit_err", "in condition-aware units"),
      NumberOf<&Row::rmse, &metric::Difference::errors, &metric::Errors::rmse>(
          "rmse", "root mean square of got - want"),
      NumberOf<&Row::rel_l2, &metric::Difference::errors,
               &metric::Errors::rel_l2>(
          "rel_l2", "norm of the difference over norm of want"),
      NumberOf<&Row::cosine, &metric::Difference::errors,
               &metric::Errors::cosine>("cosine",
                                        "of the angle between got and want")};
  return *numbers;
}

Table MakeTable() {
  Table table = CaseTable<Row>(
      "accuracy",
      {ASSAY_COLUMN(output_index, "from 0"),
       ASSAY_COLUMN(output_name, "with [i] or {key} for parts"),
       ASSAY_COLUMN(dtype, "of the output as got"),
       ASSAY_COLUMN(shape, "of the output as got"),
       ASSAY_COLUMN(n_elem, "elements compared"),
       ASSAY_COLUMN(reference,
                    "expected, oracle, law or backend:X; expected_oracle: "
                    "the expected data, held against the oracle"),
       ASSAY_COLUMN(nan_mismatch, "NaN on one side only"),
       ASSAY_COLUMN(inf_mismatch, "infinity on one side only"),
       ASSAY_COLUMN(out_of_limit, "elements outside the limit")});
  for (const TakenNumber& number : Numbers()) {
    table.columns.push_back(number.column);
  }
  table.columns.insert(
      table.columns.end(),
      {ASSAY_COLUMN(worst_index,
                    "element with the greatest ratio; against an oracle, "
                    "with the greatest distance in ULP"),
       ASSAY_COLUMN(worst_want, "expected there"),
       ASSAY_COLUMN(worst_got, "found there"),
       ASSAY_COLUMN(atol, "absolute part of the limit"),
       ASSAY_COLUMN(rtol, "relative part of the limit"),
       ASSAY_COLUMN(limit, "atol + rtol |want| at the worst element"),
       ASSAY_COLUMN(limit_source, "where the tolerance comes from"),
       ASSAY_COLUMN(headroom, "1 exact, 0 at the limit, below: out"),
       ASSAY_COLUMN(oracle_bound, "greatest error bound of the oracle, in ULP"),
       ASSAY_COLUMN(sign_of_zero_mismatch, "zeros of another sign"),
       ASSAY_COLUMN(bitwise_equal, "all bits agree"),
       ASSAY_COLUMN(distinct_results, "over repeated runs"),
       ASSAY_COLUMN(comparator, "exact, tolerance, text, distribution"),
       ASSAY_COLUMN(n_draws, "of a case judged by distribution"),
       ASSAY_COLUMN(p_value,
                    "smallest of all counts, times their number; other draws "
                    "each run where a model gives no seed"),
       ASSAY_COLUMN(worst,
                    "of a fail, the elements furthest out, as index:want:got; "
                    "against an oracle the same ones, want being exact"),
       ASSAY_COLUMN(error_bins,
                    "of a fail, how many elements are off by 0, and by at most "
                    "1/16, 1/8, 1/4, 1/2, 1, 2, 4, 8, 16 limits and more")});
  return table;
}

}  // namespace

void TakeNumbers(const metric::ExactDifference& difference,
                 AccuracyNumbers* numbers) {
  for (const TakenNumber& number : Numbers()) number.take(difference, numbers);
}

template <>
const Table& TableOf<AccuracyRow>() {
  static const Table table = MakeTable();
  return table;
}

}  // namespace assay::record
