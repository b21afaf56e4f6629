// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/rate.h"

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include "framework/timing/sampler.h"
#include "framework/timing/stopping.h"

namespace assay::roofs {
namespace {

Result<Rate> RateOfThread(const Loop& loop, const timing::Sampler& sampler,
                          int64_t budget_ns) {
  constexpr double kLeastSampleNs = 200'000;
  ASSAY_ASSIGN_OR_RETURN(const timing::Samples samples,
                         sampler.Take(
                             [&](int64_t rounds) {
                               loop.run(rounds);
                               return OkStatus();
                             },
                             timing::Stopping({timing::Budget{budget_ns}}),
                             {.least_sample_ns = kLeastSampleNs}));
  const timing::Summary ns = timing::Summarize(samples.ns);
  if (!ns.interval.has_value()) {
    return FailedPrecondition("found ", ns.n,
                              " samples of a rate, wanted six at least");
  }
  return Rate{loop.units / ns.median,
              {loop.units / ns.interval->high, loop.units / ns.interval->low},
              ns.n};
}

}  // namespace

Result<Rate> RateOf(const std::function<Loop()>& make,
                    const RateOptions& options) {
  const timing::Sampler sampler(options.clock);
  const auto count = static_cast<size_t>(options.threads);
  std::vector<Result<Rate>> rates(count, Result<Rate>(Rate()));
  std::barrier start(options.threads);
  const auto run = [&](size_t thread) {
    const Loop loop = make();
    start.arrive_and_wait();
    rates[thread] = RateOfThread(loop, sampler, options.budget_ns);
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < count; ++i) others.emplace_back(run, i);
    run(0);
  }
  Rate sum;
  for (const Result<Rate>& rate : rates) {
    ASSAY_RETURN_IF_ERROR(rate.status());
    sum.median += rate->median;
    sum.interval.low += rate->interval.low;
    sum.interval.high += rate->interval.high;
    sum.n_samples = sum.n_samples == 0
                        ? rate->n_samples
                        : std::min(sum.n_samples, rate->n_samples);
  }
  return sum;
}

}  // namespace assay::roofs
