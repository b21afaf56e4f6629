// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/compare/comparison_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "framework/cli/select/terminal.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/record/field.h"

namespace assay::compare {
namespace {

using times::CompareRow;
using timing::Verdict;

constexpr size_t kMostShown = 20;

timing::Comparison ComparisonOf(const CompareRow& row) {
  timing::Comparison found;
  found.units = row.n_groups;
  found.ratio = row.ratio.value_or(1);
  if (row.ci95_lo.has_value() && row.ci95_hi.has_value()) {
    found.interval = timing::Interval{*row.ci95_lo, *row.ci95_hi};
  }
  found.p_value = row.p_value.value_or(1);
  found.lag1 = row.lag1_autocorr.value_or(0);
  return found;
}

/// "+3.1 %".
std::string Percent(double ratio) {
  const double percent = std::round((ratio - 1) * 1000) / 10;
  return StrCat(percent < 0 ? "" : "+", percent, " %");
}

std::string Interval(const CompareRow& row) {
  if (!row.ci95_lo.has_value() || !row.ci95_hi.has_value()) return "";
  return StrCat(" [", Percent(*row.ci95_lo), ", ", Percent(*row.ci95_hi), "]");
}

std::string Microseconds(const record::Number& ns) {
  return select::Digits(ns.value_or(0) / 1000, 4);
}

std::optional<double> LeastSlowdown(const Compared& one,
                                    const timing::Thresholds& thresholds) {
  return timing::LeastSlowdown(ComparisonOf(one.first), thresholds.margin);
}

/// "; found from +4.2 % on".
std::string LeastText(const Compared& one,
                      const timing::Thresholds& thresholds) {
  const auto least = LeastSlowdown(one, thresholds);
  return least.has_value() ? StrCat("; found from ", Percent(*least), " on")
                           : "; too few groups to find any";
}

std::string SizeText(const std::vector<Compared>& all,
                     const timing::Thresholds& thresholds) {
  std::vector<double> sizes;
  for (const Compared& one : all) {
    if (const auto least = LeastSlowdown(one, thresholds)) {
      sizes.push_back(*least);
    }
  }
  if (sizes.empty()) return "";
  std::ranges::sort(sizes);
  return StrCat("A slowdown is found by 95 in 100 comparisons from ",
                Percent(sizes[sizes.size() / 2]),
                " on in the median case, from ", Percent(sizes.back()),
                " on in the worst.");
}

/// Verdicts that call for a look first, then the greatest changes.
std::vector<const Compared*> InOrder(const std::vector<Compared>& all) {
  std::vector<const Compared*> order;
  for (const Compared& one : all) order.push_back(&one);
  const auto place_of = [](const Compared* one) {
    const bool is_told =
        one->verdict == Verdict::kBetter || one->verdict == Verdict::kWorse;
    const int place = is_told ? 0 : one->verdict == Verdict::kUnsure ? 1 : 2;
    return std::pair(place, -std::abs(std::log(one->first.ratio.value_or(1))));
  };
  std::ranges::stable_sort(order, {}, place_of);
  return order;
}

constexpr std::array kVerdicts = {Verdict::kSame, Verdict::kBetter,
                                  Verdict::kWorse, Verdict::kUnsure};

}  // namespace

Result<std::optional<Compared>> ComparedIn(const record::Record& record) {
  ASSAY_ASSIGN_OR_RETURN(auto rows, record.Rows<CompareRow>());
  if (rows.empty() || record.result.outcome != record::Outcome::kPass) {
    return std::optional<Compared>();
  }
  return std::optional(Compared{record.result.test_id, std::move(rows[0]), {}});
}

std::string CaseText(const Compared& one, const std::string& more) {
  const CompareRow& row = one.first;
  const std::string numbers =
      StrCat(Percent(row.ratio.value_or(1)), Interval(row), ", ",
             Microseconds(row.base_ns), " to ", Microseconds(row.candidate_ns),
             " us", more, row.noisy ? "; noisy" : "");
  return select::Wrapped(one.test_id,
                         {.label = std::string(timing::ToString(one.verdict)),
                          .indent = 2,
                          .label_width = 8}) +
         select::Wrapped(numbers, {.indent = 10});
}

void AddQValues(std::vector<Compared>* all) {
  std::vector<double> p_values;
  for (const Compared& one : *all) {
    p_values.push_back(one.first.p_value.value_or(1));
  }
  const auto q_values = timing::BenjaminiHochberg(p_values);
  for (size_t i = 0; i < all->size(); ++i) (*all)[i].q_value = q_values[i];
}

bool LooksApart(const Compared& compared,
                const timing::Thresholds& thresholds) {
  return timing::IsApart(ComparisonOf(compared.first), compared.q_value,
                         thresholds);
}

void AddVerdicts(const timing::Thresholds& thresholds,
                 std::vector<Compared>* all) {
  for (Compared& one : *all) {
    std::optional<timing::Comparison> second;
    if (one.second.has_value()) second = ComparisonOf(*one.second);
    one.verdict = timing::VerdictOf(ComparisonOf(one.first), one.q_value,
                                    second, thresholds);
  }
}

int64_t Count(const std::vector<Compared>& all, Verdict verdict) {
  return std::ranges::count(all, verdict, &Compared::verdict);
}

std::string TextOf(const std::vector<Compared>& all, const std::string& base,
                   const std::string& candidate,
                   const timing::Thresholds& thresholds) {
  std::vector<std::string> counts;
  for (const Verdict verdict : kVerdicts) {
    counts.push_back(
        StrCat(Count(all, verdict), " ", timing::ToString(verdict)));
  }
  std::string text = select::Wrapped(StrCat(
                         candidate, " beside ", base, ", ", all.size(),
                         all.size() == 1 ? " case" : " cases", "; a change of ",
                         select::Digits(100 * thresholds.margin, 3),
                         " % counts for nothing.")) +
                     Joined(counts) + "\n";
  const std::vector<const Compared*> told = InOrder(all);
  for (size_t i = 0; i < std::min(told.size(), kMostShown); ++i) {
    text += CaseText(*told[i], LeastText(*told[i], thresholds));
  }
  if (told.size() > kMostShown) {
    text += StrCat("  and ", told.size() - kMostShown, " more\n");
  }
  const std::string size = SizeText(all, thresholds);
  return size.empty() ? text : text + select::Wrapped(size);
}

std::string CsvOf(const std::vector<Compared>& all,
                  const timing::Thresholds& thresholds) {
  std::string text =
      "test_id,backend,base,verdict,ratio,ci95_lo,ci95_hi,p_value,q_value,"
      "second_ratio,second_ci95_lo,second_ci95_hi,second_p_value,base_ns,"
      "candidate_ns,inner_iters,n_blocks,lag1_autocorr,noisy,n_groups,"
      "least_slowdown,log_ratios,second_log_ratios\n";
  for (const Compared& one : all) {
    const CompareRow& row = one.first;
    const CompareRow second = one.second.value_or(CompareRow());
    const std::vector<std::string> fields = {
        one.test_id,
        row.backend,
        row.base,
        std::string(timing::ToString(one.verdict)),
        record::FieldText(row.ratio),
        record::FieldText(row.ci95_lo),
        record::FieldText(row.ci95_hi),
        record::FieldText(row.p_value),
        record::FieldText(record::Number(one.q_value)),
        record::FieldText(second.ratio),
        record::FieldText(second.ci95_lo),
        record::FieldText(second.ci95_hi),
        record::FieldText(second.p_value),
        record::FieldText(row.base_ns),
        record::FieldText(row.candidate_ns),
        record::FieldText(row.inner_iters),
        record::FieldText(row.n_blocks),
        record::FieldText(row.lag1_autocorr),
        record::FieldText(row.noisy),
        record::FieldText(row.n_groups),
        record::FieldText(LeastSlowdown(one, thresholds)),
        row.log_ratios,
        second.log_ratios};
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += ',';
      file::AppendCsvField(text, fields[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace assay::compare
