// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace assay::converge {
namespace {

double Mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) /
         static_cast<double>(x.size());
}

/// The sum of squared distances from the mean.
double Squares(std::span<const double> x) {
  const double mean = Mean(x);
  return std::transform_reduce(
      x.begin(), x.end(), 0.0, std::plus<>(),
      [mean](double v) { return (v - mean) * (v - mean); });
}

/// The next greater number with as many bits (HAKMEM, item 175).
uint32_t NextOfAsManyBits(uint32_t bits) {
  const uint32_t lowest = bits & (~bits + 1);
  const uint32_t ripple = bits + lowest;
  return ripple | ((bits ^ ripple) / lowest) >> 2U;
}

/// The share of all ways to deal the numbers to groups of these sizes whose
/// means are at least as far apart as these.
double ShareApart(std::span<const double> first,
                  std::span<const double> second) {
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const auto apart = [&](double sum) {
    return std::abs(sum / n - (total - sum) / m);
  };
  // The slack allows for sums in another order.
  const double least =
      std::abs(Mean(first) - Mean(second)) * (1 - 1e-12) - 1e-12;
  int64_t ways = 0, as_far = 0;
  const auto end = uint32_t{1} << all.size();
  for (uint32_t dealt = (uint32_t{1} << first.size()) - 1; dealt < end;
       dealt = NextOfAsManyBits(dealt)) {
    double sum = 0;
    for (uint32_t left = dealt; left != 0; left &= left - 1) {
      sum += all[static_cast<size_t>(std::countr_zero(left))];
    }
    ++ways;
    if (apart(sum) >= least) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(ways);
}

/// Student's t with these degrees of freedom at the normal quantile z (M.
/// Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.5, up to
/// the second power of 1/degrees).
double StudentOf(double z, double degrees) {
  const double z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * degrees) +
         (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/// The greatest shift of the second group's logarithms in this direction that
/// the test does not reject, by bisection.
double EndOfInterval(std::span<const double> first,
                     std::span<const double> second, double sign) {
  const double middle = Mean(second) - Mean(first);
  const auto [low, high] = std::ranges::minmax(first);
  const auto [low2, high2] = std::ranges::minmax(second);
  double kept = middle;
  double rejected = middle + sign * (2 * (high - low + high2 - low2) + 1e-9);
  constexpr int kHalvings = 24;
  std::vector<double> shifted(second.size());
  for (int i = 0; i < kHalvings; ++i) {
    const double shift = (kept + rejected) / 2;
    std::ranges::transform(second, shifted.begin(),
                           [shift](double v) { return v - shift; });
    (ShareApart(first, shifted) > kSignificance ? kept : rejected) = shift;
  }
  return kept;
}

}  // namespace

Result<Comparison> Compare(std::span<const double> first,
                           std::span<const double> second) {
  std::vector<double> logs[2];
  for (const auto& [samples, into] :
       {std::pair(first, &logs[0]), {second, &logs[1]}}) {
    if (samples.size() < kLeastSeeds || samples.size() > kMostSeeds) {
      return InvalidArgument("found ", samples.size(), " seeds, wanted ",
                             kLeastSeeds, " to ", kMostSeeds);
    }
    for (const double count : samples) {
      if (!(count > 0) || std::isinf(count)) {
        return InvalidArgument("found ", count, " samples, wanted more than 0");
      }
      into->push_back(std::log(count));
    }
  }
  constexpr double kBothSides = 1.959964, kOfPower = 0.841621;  // of the normal
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double degrees = n + m - 2;
  const double spread =
      std::sqrt((Squares(logs[0]) + Squares(logs[1])) / degrees);
  Comparison found;
  found.ratio = std::exp(Mean(logs[1]) - Mean(logs[0]));
  found.low = std::exp(EndOfInterval(logs[0], logs[1], -1));
  found.high = std::exp(EndOfInterval(logs[0], logs[1], 1));
  found.p = ShareApart(logs[0], logs[1]);
  found.least =
      std::exp((StudentOf(kBothSides, degrees) + StudentOf(kOfPower, degrees)) *
               spread * std::sqrt(1 / n + 1 / m));
  return found;
}

}  // namespace assay::converge
