// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/measure_exact.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "framework/metric/exact_difference.h"
#include "framework/testing/measure/compare.h"
#include "framework/testing/measure/compare_text.h"

namespace assay::measure {
namespace {

/// The doubles of a tensor; none of one that is not there.
std::span<const double> Numbers(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat64) return {};
  return tensor.elements<double>();
}

/// Parts of another size are not read.
bool Fits(const ExactAnswer& answer, int64_t count) {
  const auto fits = [&](const Tensor& part) {
    return !part.defined() ||
           (part.dtype() == DType::kFloat64 && part.num_elements() == count);
  };
  return fits(answer.tail) && fits(answer.bound) && fits(answer.units);
}

/// From this bound on, in ULP, more than two neighbours of an exact number may
/// be its correct rounding: whether an element is rounded correctly is open.
constexpr double kOpenBound = 0.5;

void Fill(const metric::ExactDifference& d, OutputMetrics& entry) {
  TakeDifference(d, entry);
  if (d.greatest_bound_ulp >= kOpenBound) entry.share_correctly_rounded.reset();
  entry.oracle_bound = d.greatest_bound_ulp;
}

OutputMetrics MeasureNumbers(const Tensor& got, const ExactAnswer& answer,
                             OutputMetrics entry) {
  const Tensor& value = *answer.value.tensor();
  entry.dtype = ToString(got.dtype());
  entry.shape = got.shape().ToString();
  entry.n_elem = got.num_elements();
  if (got.shape() != value.shape() || !Fits(answer, got.num_elements())) {
    entry.mismatch_reason = Reason::kShape;
    entry.mismatch = StrCat("found ", got.Signature(), ", the oracle has ",
                            value.shape().ToString());
    return entry;
  }
  const bool tolerant =
      entry.limit.comparator == record::Comparator::kTolerance;
  Fill(metric::CompareExact(got,
                            {Numbers(value), Numbers(answer.tail),
                             Numbers(answer.bound), Numbers(answer.units)},
                            tolerant
                                ? metric::Tolerance{.rtol = entry.limit.rtol,
                                                    .atol = entry.limit.atol}
                                : metric::Tolerance{}),
       entry);
  if (entry.worst_index >= 0) {
    entry.worst_got = ElementText(got, entry.worst_index);
    entry.worst_want = ElementText(value, entry.worst_index);
  }
  return entry;
}

OutputMetrics Named(OutputMetrics entry, std::string_view suffix) {
  entry.output_name += suffix;
  return entry;
}

/// Sequences and optionals hold numbers without tail and bound.
void MeasureValue(const Value& got, const ExactAnswer& answer,
                  const OutputMetrics& entry,
                  std::vector<OutputMetrics>& metrics) {
  const Value& want = answer.value;
  if (!want.present()) return;  // not known
  const Tensor* tensor = got.tensor();
  if (tensor != nullptr && IsFloatingPoint(tensor->dtype()) &&
      want.tensor() != nullptr && want.tensor()->dtype() == DType::kFloat64) {
    metrics.push_back(MeasureNumbers(*tensor, answer, entry));
    return;
  }
  const Sequence* items = got.sequence();
  if (items != nullptr && want.sequence() != nullptr && !items->items.empty() &&
      items->items.size() == want.sequence()->items.size()) {
    for (size_t i = 0; i < items->items.size(); ++i) {
      ExactAnswer part;
      part.value = want.sequence()->items[i];
      MeasureValue(items->items[i], part, Named(entry, StrCat("[", i, "]")),
                   metrics);
    }
    return;
  }
  if (got.optional() != nullptr && want.optional() != nullptr &&
      got.optional()->has_value() && want.optional()->has_value()) {
    ExactAnswer part;
    part.value = *want.optional()->value;
    return MeasureValue(*got.optional()->value, part, entry, metrics);
  }
  CompareValues(got, want, entry, metrics);
}

/// The exact numbers of the elements that are the worst by the judged data.
void TakeWorst(const Value& got, const ExactAnswer& answer,
               std::span<const OutputMetrics> judged, OutputMetrics& entry) {
  const Tensor* const value = answer.value.tensor();
  const auto same =
      std::ranges::find(judged, entry.output_name, &OutputMetrics::output_name);
  if (same == judged.end() || !entry.mismatch.empty() || value == nullptr ||
      got.tensor() == nullptr || value->dtype() != DType::kFloat64) {
    return;
  }
  for (const Element& one : same->worst) {
    if (one.index >= entry.n_elem) continue;
    entry.worst.push_back({one.index, ElementText(*value, one.index),
                           ElementText(*got.tensor(), one.index)});
  }
}

}  // namespace

std::vector<OutputMetrics> MeasureExact(std::span<const Value> got,
                                        std::span<const ExactAnswer> want,
                                        std::span<const std::string> names,
                                        const cases::Limit& limit,
                                        const std::string& reference,
                                        std::span<const OutputMetrics> judged) {
  std::vector<OutputMetrics> metrics;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    OutputMetrics entry;
    entry.output_index = static_cast<int>(i);
    entry.output_name = i < names.size() ? names[i] : std::to_string(i);
    entry.limit = limit;
    entry.reference = reference;
    const size_t before = metrics.size();
    MeasureValue(got[i], want[i], entry, metrics);
    if (metrics.size() == before + 1) {
      TakeWorst(got[i], want[i], judged, metrics.back());
    }
  }
  return metrics;
}

}  // namespace assay::measure
