// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/metric/exact_difference.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/record/columns.h"

namespace assay::measure {
namespace {

using Clock = std::chrono::steady_clock;

int64_t MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() -
                                                               start)
      .count();
}

// The boundary at which exceptions of a backend end.
template <class Call>
Status Guarded(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return backend::StatusOfException("the backend");
  }
}

// Distinct executors in the order in which they first ran, joined by "+".
void ReadPlacement(Network& network, Observation& seen) {
  const Placement* placement = network.placement();
  if (placement == nullptr) return;
  std::vector<std::string> executors;
  for (PlacedNode& node : placement->Placed()) {
    seen.via_function = seen.via_function || !node.function.empty();
    if (std::ranges::find(executors, node.executor) == executors.end()) {
      executors.push_back(std::move(node.executor));
    }
  }
  seen.placement = Joined(executors, "+");
}

Status Fetch(Network& network, const Binding& binding, Observation& seen) {
  ASSAY_ASSIGN_OR_RETURN(seen.outputs, host::CopiesOf(binding.outputs()));
  for (const ValueInfo& output : network.outputs()) {
    seen.output_names.push_back(output.name);
  }
  ReadPlacement(network, seen);
  return OkStatus();
}

// Bind, Forward and fetch; seen.stage says how far it came.
Status BindAndRun(Network& network, std::span<const Value> inputs,
                  std::span<const Value> outputs, std::vector<Value>* held,
                  Observation& seen) {
  seen.stage = Stage::kBind;
  ASSAY_ASSIGN_OR_RETURN(const host::FirstRun first,
                         host::BindAndRun(network, inputs, outputs));
  if (first.binding == nullptr) return Internal("the backend bound nothing");
  const Binding& binding = *first.binding;
  seen.stage = Stage::kForward;
  ASSAY_RETURN_IF_ERROR(first.status);
  seen.stage = Stage::kFetch;
  ASSAY_RETURN_IF_ERROR(Fetch(network, binding, seen));
  if (held != nullptr) {
    held->assign(binding.outputs().begin(), binding.outputs().end());
  }
  return OkStatus();
}

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
  if (record::TellsUlp(metrics.max_ulp, metrics.worst_got,
                       metrics.worst_want)) {
    text += StrCat(", up to ", *metrics.max_ulp, " ulp apart");
  }
  return text;
}

Reason ReasonOf(const OutputMetrics& metrics) {
  if (!metrics.mismatch.empty()) return metrics.mismatch_reason;
  return metrics.nan_mismatch > 0 ? Reason::kNan : Reason::kValue;
}

std::string_view ToString(Stage stage) {
  constexpr std::array<std::string_view, 4> kStages = {"load", "bind",
                                                       "forward", "fetch"};
  return kStages.at(static_cast<size_t>(stage));
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
  TakeType(got, entry);
  if (got.shape() != value.shape() || !Fits(answer, got.num_elements())) {
    entry.mismatch_reason = Reason::kShape;
    entry.mismatch = StrCat("found ", got.Signature(), ", the oracle has ",
                            value.shape().ToString());
    return entry;
  }
  Fill(metric::CompareExact(got,
                            {Numbers(value), Numbers(answer.tail),
                             Numbers(answer.bound), Numbers(answer.units)},
                            ToleranceOf(entry.limit)),
       entry);
  TakeWorstTexts(got, value, entry);
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

Observation RunLoaded(Network& network, std::span<const Value> inputs,
                      std::span<const Value> outputs,
                      std::vector<Value>* held) {
  Observation seen;
  const auto start = Clock::now();
  seen.status =
      Guarded([&] { return BindAndRun(network, inputs, outputs, held, seen); });
  seen.run_us = MicrosecondsSince(start);
  return seen;
}

Observation Run(Backend& backend, std::shared_ptr<const Model> model,
                std::span<const Value> inputs, const LoadOptions& options,
                std::unique_ptr<Network>* loaded) {
  std::unique_ptr<Network> network;
  const auto start = Clock::now();
  const Status status = Guarded([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(network, backend.Load(std::move(model), options));
    if (network == nullptr) return Internal("the backend loaded nothing");
    return OkStatus();
  });
  const int64_t load_us = MicrosecondsSince(start);
  Observation seen;
  if (status.ok()) {
    seen = RunLoaded(*network, inputs, {});
  } else {
    seen.status = status;
    seen.stage = Stage::kLoad;
  }
  seen.load_us = load_us;
  if (loaded != nullptr) *loaded = std::move(network);
  return seen;
}

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
