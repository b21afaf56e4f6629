// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure_exact.h"

#include <algorithm>
#include <utility>

#include "framework/metric/exact_difference.h"
#include "framework/testing/compare.h"

namespace assay::inline v1 {
namespace {

/// The doubles of a tensor; none of one that is not there.
std::span<const double> Numbers(const Tensor& tensor) {
  if (tensor.dtype() != DType::kFloat64) return {};
  return tensor.elements<double>();
}

bool IsNumbers(const ExactAnswer& answer) {
  const Tensor* value = answer.value.tensor();
  if (value == nullptr || value->dtype() != DType::kFloat64 ||
      answer.bound.dtype() != DType::kFloat64) {
    return false;
  }
  const auto fits = [&](const Tensor& part) {
    return !part.defined() || part.num_elements() == value->num_elements();
  };
  return fits(answer.tail) && fits(answer.bound) && fits(answer.units);
}

void Fill(const ExactDifference& d, OutputMetrics& entry) {
  entry.nan_mismatch = d.nan_mismatch;
  entry.inf_mismatch = d.inf_mismatch;
  entry.sign_of_zero_mismatch = d.sign_of_zero_mismatch;
  entry.out_of_limit = d.out_of_limit;
  entry.bitwise_equal = d.bitwise_equal;
  entry.worst_index = d.worst_index;
  entry.oracle_bound = d.greatest_bound_ulp;
  entry.max_unit_err = d.greatest_unit_error;
  if (entry.n_elem > 0) entry.headroom = 1 - d.worst_ratio;
  if (d.errors) {
    entry.min_diff = d.errors->min_diff;
    entry.max_diff = d.errors->max_diff;
    entry.max_abs_err = d.errors->max_abs;
    entry.max_rel_err = d.errors->max_rel;
    entry.rmse = d.errors->rmse;
    entry.rel_l2 = d.errors->rel_l2;
    entry.cosine = d.errors->cosine;
  }
  if (d.ulp) {
    entry.max_ulp = d.ulp->max;
    entry.p50_ulp = d.ulp->p50;
    entry.p99_ulp = d.ulp->p99;
    entry.p999_ulp = d.ulp->p999;
    entry.mean_signed_ulp = d.ulp->mean_signed;
    entry.share_correctly_rounded = d.ulp->share_zero;
  }
}

OutputMetrics MeasureNumbers(const Tensor& got, const ExactAnswer& answer,
                             OutputMetrics entry) {
  const Tensor& value = *answer.value.tensor();
  entry.dtype = ToString(got.dtype());
  entry.shape = got.shape().ToString();
  entry.n_elem = got.num_elements();
  if (got.shape() != value.shape()) {
    entry.mismatch_reason = Reason::kShape;
    entry.mismatch = StrCat("found ", got.Signature(), ", the oracle has ",
                            value.shape().ToString());
    return entry;
  }
  const bool tolerant = entry.limit.comparator == Comparator::kTolerance;
  Fill(CompareExact(got,
                    {Numbers(value), Numbers(answer.tail),
                     Numbers(answer.bound), Numbers(answer.units)},
                    tolerant ? Tolerance{.rtol = entry.limit.rtol,
                                         .atol = entry.limit.atol}
                             : Tolerance{}),
       entry);
  if (entry.worst_index >= 0) {
    entry.worst_got = ElementText(got, entry.worst_index);
    entry.worst_want = ElementText(value, entry.worst_index);
  }
  return entry;
}

}  // namespace

std::vector<OutputMetrics> MeasureExact(std::span<const Value> got,
                                        std::span<const ExactAnswer> want,
                                        std::span<const std::string> names,
                                        const Limit& limit,
                                        const std::string& reference) {
  std::vector<OutputMetrics> metrics;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    OutputMetrics entry;
    entry.output_index = static_cast<int>(i);
    entry.output_name = i < names.size() ? names[i] : std::to_string(i);
    entry.limit = limit;
    entry.reference = reference;
    const Tensor* tensor = got[i].tensor();
    if (tensor != nullptr && IsFloatingPoint(tensor->dtype()) &&
        IsNumbers(want[i])) {
      metrics.push_back(MeasureNumbers(*tensor, want[i], std::move(entry)));
    } else {
      CompareValues(got[i], want[i].value, entry, metrics);
    }
  }
  return metrics;
}

}  // namespace assay::inline v1
