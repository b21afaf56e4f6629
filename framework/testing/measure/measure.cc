// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/measure.h"

#include "framework/testing/measure/compare.h"

namespace assay::measure {
namespace {

constexpr std::string_view kByDistribution =
    "one run does not tell how random outputs are distributed";

bool IsWithinLimit(const OutputMetrics& metrics) {
  return metrics.mismatch.empty() && metrics.out_of_limit == 0;
}

// "3 of 6 elements of float32[2,3] out of limit, at 4 got 5, wanted 4 ...".
std::string Describe(const OutputMetrics& metrics) {
  if (!metrics.mismatch.empty()) return metrics.mismatch;
  std::string text =
      StrCat(metrics.out_of_limit, " of ", metrics.n_elem, " elements of ",
             metrics.dtype, metrics.shape, " out of limit");
  if (metrics.nan_mismatch + metrics.inf_mismatch > 0) {
    text += StrCat(" (", metrics.nan_mismatch, " by NaN, ",
                   metrics.inf_mismatch, " by infinity)");
  }
  text += StrCat(", at ", metrics.worst_index, " got ", metrics.worst_got,
                 ", wanted ", metrics.worst_want);
  const DType type = ParseDType(metrics.dtype).value_or(DType::kUndefined);
  const bool inexact =
      IsFloatingPoint(type) || ClassOf(type) == DTypeClass::kComplex;
  if (inexact && metrics.limit.comparator == record::Comparator::kTolerance) {
    text += StrCat(" within ", metrics.limit.atol, " + ", metrics.limit.rtol,
                   " * |want| (", metrics.limit.source, ")");
  }
  if (metrics.max_ulp.has_value()) {
    text += StrCat(", up to ", *metrics.max_ulp, " ulp apart");
  }
  return text;
}

Reason ReasonOf(const OutputMetrics& metrics) {
  if (!metrics.mismatch.empty()) return metrics.mismatch_reason;
  return metrics.nan_mismatch > 0 ? Reason::kNan : Reason::kValue;
}

std::string_view ToString(Stage stage) {
  switch (stage) {
    case Stage::kLoad:
      return "load";
    case Stage::kBind:
      return "bind";
    case Stage::kForward:
      return "forward";
    case Stage::kFetch:
      return "fetch";
  }
  return "";
}

Judgement JudgeStatus(const Observation& seen) {
  const Status& status = seen.status;
  const bool may_decline =
      seen.stage == Stage::kLoad || seen.stage == Stage::kBind;
  if (may_decline && status.code() == StatusCode::kUnsupported) {
    return {record::Outcome::kUnsupported, status.reason(), status.message()};
  }
  if (may_decline && status.code() == StatusCode::kUnavailable) {
    return {record::Outcome::kUnavailable, status.reason(), status.message()};
  }
  return {record::Outcome::kError, status.reason(),
          StrCat(ToString(seen.stage), ": ", ToString(status.code()), ": ",
                 status.message())};
}

}  // namespace

std::vector<OutputMetrics> Measure(std::span<const Value> got,
                                   std::span<const Value> want,
                                   std::span<const std::string> names,
                                   const cases::Limit& limit) {
  std::vector<OutputMetrics> metrics;
  OutputMetrics entry;
  entry.limit = limit;
  const Value absent;
  for (size_t i = 0; i < want.size(); ++i) {
    entry.output_index = static_cast<int>(i);
    entry.output_name = i < names.size() ? names[i] : std::to_string(i);
    CompareValues(i < got.size() ? got[i] : absent, want[i], entry, metrics);
  }
  if (got.size() != want.size()) {
    entry.output_index = static_cast<int>(want.size());
    entry.output_name = "";
    entry.mismatch_reason = Reason::kValueKind;
    entry.mismatch =
        StrCat("found ", got.size(), " outputs, wanted ", want.size());
    metrics.push_back(entry);
  }
  return metrics;
}

Judgement Judge(const Observation& seen,
                std::span<const OutputMetrics> metrics) {
  if (!seen.status.ok()) return JudgeStatus(seen);
  if (metrics.empty()) {
    return {record::Outcome::kError, Reason::kValue,
            "found no expected output, wanted at least one to compare with"};
  }
  const OutputMetrics* first = nullptr;
  int n_failed = 0;
  bool by_distribution = false;
  for (const OutputMetrics& one : metrics) {
    by_distribution |=
        one.limit.comparator == record::Comparator::kDistribution;
    if (IsWithinLimit(one)) continue;
    ++n_failed;
    if (first == nullptr) first = &one;
  }
  if (first != nullptr) {
    std::string message =
        StrCat("output ", first->output_name, ": ", Describe(*first));
    if (n_failed > 1) {
      message += StrCat("; and ", n_failed - 1, " more of ", metrics.size());
    }
    return {record::Outcome::kFail, ReasonOf(*first), std::move(message)};
  }
  if (by_distribution) {
    return {record::Outcome::kUnsupported, Reason::kValue,
            std::string(kByDistribution)};
  }
  return {record::Outcome::kPass, Reason::kNone, ""};
}

}  // namespace assay::measure
