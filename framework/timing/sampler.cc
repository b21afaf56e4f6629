// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace assay::timing {
namespace {

/// One sampling, from its warm-up on.
class Sampling {
 public:
  Sampling(const Clock& clock, const Source& source,
           const SamplingOptions& options)
      : clock_(clock), source_(source), options_(options), start_(clock()) {}

  Status WarmUp(double least_ns, double budget_ns);
  Result<Samples> Take(Stopping& stopping);

 private:
  /// The nanoseconds of a call, over one sample.
  Result<double> One() {
    if (options_.before) ASSAY_RETURN_IF_ERROR(options_.before());
    ASSAY_ASSIGN_OR_RETURN(const double ns, source_(samples_.inner_iters));
    elapsed_ns_ = clock_() - start_;
    return ns / Calls();
  }
  double Calls() const { return static_cast<double>(samples_.inner_iters); }
  /// Nothing takes so little time that more calls could be needed.
  bool IsLong(double ns, double least_ns) const {
    constexpr int64_t kMostCalls = int64_t{1} << 40;
    return ns * Calls() >= least_ns || samples_.inner_iters >= kMostCalls;
  }

  const Clock& clock_;
  const Source& source_;
  const SamplingOptions& options_;
  const int64_t start_;
  int64_t elapsed_ns_ = 0;
  Samples samples_;
};

Status Sampling::WarmUp(double least_ns, double budget_ns) {
  constexpr double kShare = 0.1;
  constexpr double kAgree = 0.01;
  std::array<double, 5> window = {};
  std::optional<double> before;
  for (;;) {
    for (double& ns : window) {
      ASSAY_ASSIGN_OR_RETURN(ns, One());
      samples_.warmup_iters += samples_.inner_iters;
      const bool is_spent =
          static_cast<double>(elapsed_ns_) >= kShare * budget_ns;
      if (is_spent && IsLong(ns, least_ns)) return OkStatus();
    }
    std::ranges::sort(window);
    const double median = window[window.size() / 2];
    if (!IsLong(median, least_ns)) {
      samples_.inner_iters *= 2;
      before.reset();
    } else if (before && std::abs(median - *before) <= kAgree * *before) {
      samples_.warm = true;
      return OkStatus();
    } else {
      before = median;
    }
  }
}

Result<Samples> Sampling::Take(Stopping& stopping) {
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const double ns, One());
    samples_.ns.push_back(ns);
    if (const auto reason = stopping.Ask(samples_.ns, elapsed_ns_)) {
      samples_.stop_reason = *reason;
      return std::move(samples_);
    }
  }
}

}  // namespace

Sampler::Sampler(Clock clock)
    : clock_(std::move(clock)), cost_(CostOf(clock_)) {}

Result<Samples> Sampler::Take(const Subject& subject, Stopping stopping,
                              const SamplingOptions& options) const {
  const Source timed = [&](int64_t calls) -> Result<double> {
    const int64_t start = clock_();
    const Status status = subject(calls);
    const int64_t end = clock_();
    if (!status.ok()) return status;
    return static_cast<double>(end - start);
  };
  return TakeFrom(timed, std::move(stopping), options);
}

Result<Samples> Sampler::TakeFrom(const Source& source, Stopping stopping,
                                  const SamplingOptions& options) const {
  const std::optional<int64_t> budget_ns = stopping.budget_ns();
  if (!budget_ns) {
    return InvalidArgument("found criteria without a budget, wanted one");
  }
  if (cost_.resolution_ns == 0) {
    return InvalidArgument("found a clock that stands still");
  }
  Sampling sampling(clock_, source, options);
  if (!options.single) {
    ASSAY_RETURN_IF_ERROR(
        sampling.WarmUp(std::max(LeastSampleNs(cost_), options.least_sample_ns),
                        static_cast<double>(*budget_ns)));
  }
  return sampling.Take(stopping);
}

}  // namespace assay::timing
