// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::timing {
namespace {

double MeanOf(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) /
         static_cast<double>(samples.size());
}

double SumOfSquares(std::span<const double> samples, double mean) {
  double sum = 0;
  for (const double x : samples) sum += (x - mean) * (x - mean);
  return sum;
}

/// The probabilities of a binomial law of n coins, over that of its middle, so
/// that none of them overflows and those that vanish do not count.
std::vector<double> Coins(size_t n) {
  std::vector<double> chances(n + 1);
  const size_t middle = n / 2;
  chances[middle] = chances[n - middle] = 1;
  for (size_t k = middle; k > 0; --k) {
    chances[k - 1] =
        chances[k] * static_cast<double>(k) / static_cast<double>(n - k + 1);
    chances[n - k + 1] = chances[k - 1];
  }
  return chances;
}

void CountOutliers(std::span<const double> samples, Summary& summary) {
  const double apart = summary.p75 - summary.p25;
  const auto beyond = [&](double times) {
    return std::ranges::count_if(samples, [&](double x) {
      return x < summary.p25 - times * apart || x > summary.p75 + times * apart;
    });
  };
  summary.severe_outliers = beyond(3);
  summary.mild_outliers = beyond(1.5) - summary.severe_outliers;
}

}  // namespace

double Percentile(std::span<const double> sorted, double p) {
  const double place = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above],
                   place - static_cast<double>(below));
}

double LagOne(std::span<const double> samples) {
  const double mean = MeanOf(samples);
  const double all = SumOfSquares(samples, mean);
  if (!(all > 0)) return 0;
  double next = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    next += (samples[i - 1] - mean) * (samples[i] - mean);
  }
  return next / all;
}

std::optional<Interval> CentralInterval(std::span<const double> sorted,
                                        std::span<const double> chances) {
  const double all = std::accumulate(chances.begin(), chances.end(), 0.0);
  size_t rank = 0;
  for (double tail = chances[0]; tail <= (1 - kConfidence) / 2 * all;) {
    tail += chances[++rank];
  }
  if (rank == 0) return std::nullopt;
  return Interval{sorted[rank - 1], sorted[sorted.size() - rank]};
}

std::optional<Interval> MedianInterval(std::span<const double> sorted) {
  return CentralInterval(sorted, Coins(sorted.size()));
}

std::optional<Interval> PercentileInterval(std::span<const double> sorted,
                                           double p) {
  constexpr double kTail = (1 - kConfidence) / 2;
  const size_t n = sorted.size();
  const auto chance = [&](size_t k) {
    const auto all = static_cast<double>(n);
    const auto below = static_cast<double>(k);
    return std::exp(std::lgamma(all + 1) - std::lgamma(below + 1) -
                    std::lgamma(all - below + 1) + below * std::log(p) +
                    (all - below) * std::log1p(-p));
  };
  // So many from either end are on the wrong side in 2.5 % of cases at most.
  size_t low = 0;
  for (double tail = chance(0); low < n && tail <= kTail;) {
    tail += chance(++low);
  }
  size_t high = 0;
  for (double tail = chance(n); high < n && tail <= kTail;) {
    tail += chance(n - ++high);
  }
  if (low == 0 || high == 0) return std::nullopt;
  return Interval{sorted[low - 1], sorted[n - high]};
}

Summary Summarize(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  Summary summary;
  summary.n = static_cast<int64_t>(samples.size());
  summary.min = sorted.front();
  summary.p25 = Percentile(sorted, 0.25);
  summary.median = Percentile(sorted, 0.5);
  summary.p75 = Percentile(sorted, 0.75);
  summary.p90 = Percentile(sorted, 0.9);
  summary.p99 = Percentile(sorted, 0.99);
  summary.max = sorted.back();
  summary.mean = MeanOf(samples);
  if (summary.n > 1) {
    summary.stdev = std::sqrt(SumOfSquares(samples, summary.mean) /
                              static_cast<double>(summary.n - 1));
  }
  summary.interval = MedianInterval(sorted);
  CountOutliers(samples, summary);
  summary.lag1 = LagOne(samples);
  return summary;
}

}  // namespace assay::timing
