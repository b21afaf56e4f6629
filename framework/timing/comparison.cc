// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::timing {
namespace {

/// So many have the exact law of their ranks.
constexpr size_t kExact = 300;

/// The places of the numbers in ascending order.
template <class By>
std::vector<size_t> OrderOf(size_t n, const By& by) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, by);
  return order;
}

/// Twice the rank of each difference by its size, which is whole also where
/// ties share a mean; 0 for a zero.
std::vector<size_t> DoubledRanks(std::span<const double> differences) {
  const auto size_of = [&](size_t i) { return std::abs(differences[i]); };
  const std::vector<size_t> order = OrderOf(differences.size(), size_of);
  std::vector<size_t> ranks(order.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && size_of(order[end]) == size_of(order[first])) {
      ++end;
    }
    const size_t doubled = size_of(order[first]) > 0 ? first + 1 + end : 0;
    for (; first < end; ++first) ranks[order[first]] = doubled;
  }
  return ranks;
}

/// The share of all choices of ranks whose sum is at most `sum`.
double ShareUpTo(size_t sum, const std::vector<size_t>& ranks) {
  std::vector<double> choices(sum + 1);  // that have each sum, as a share
  choices[0] = 1;
  for (const size_t rank : ranks) {
    if (rank == 0) continue;
    for (size_t s = choices.size(); s-- > 0;) {
      choices[s] = (choices[s] + (s >= rank ? choices[s - rank] : 0)) / 2;
    }
  }
  return std::accumulate(choices.begin(), choices.end(), 0.0);
}

/// The means of all two numbers, and of each with itself, in ascending order.
std::vector<double> MeansOfTwo(std::span<const double> numbers) {
  std::vector<double> means;
  means.reserve(numbers.size() * (numbers.size() + 1) / 2);
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      means.push_back(std::midpoint(numbers[i], numbers[j]));
    }
  }
  std::ranges::sort(means);
  return means;
}

/// How likely so many of the means of two lie above the truth: the share of all
/// choices of the ranks 1 to n that have the sum 0, 1, ..., or, of many, the
/// normal law of the same mean and variance.
std::vector<double> SumsOfRanks(size_t n) {
  std::vector<double> shares(n * (n + 1) / 2 + 1);
  if (n > kExact) {
    const auto most = static_cast<double>(shares.size() - 1);
    const double variance = most * (2 * static_cast<double>(n) + 1) / 12;
    for (size_t s = 0; s < shares.size(); ++s) {
      const double apart = static_cast<double>(s) - most / 2;
      shares[s] = std::exp(-apart * apart / (2 * variance));
    }
    return shares;
  }
  shares[0] = 1;
  for (size_t rank = 1, most = 0; rank <= n; ++rank) {
    most += rank;
    for (size_t s = most + 1; s-- > 0;) {
      shares[s] = (shares[s] + (s >= rank ? shares[s - rank] : 0)) / 2;
    }
  }
  return shares;
}

}  // namespace

Comparison Compare(std::span<const double> log_ratios) {
  const std::vector<double> means = MeansOfTwo(log_ratios);
  Comparison comparison = {.units = std::ssize(log_ratios),
                           .ratio = std::exp(Percentile(means, 0.5)),
                           .p_value = SignFlipP(log_ratios),
                           .lag1 = LagOne(log_ratios)};
  if (const auto logs =
          CentralInterval(means, SumsOfRanks(log_ratios.size()))) {
    comparison.interval = {std::exp(logs->low), std::exp(logs->high)};
  }
  return comparison;
}

std::optional<double> LeastSlowdown(const Comparison& comparison,
                                    double margin) {
  constexpr double kLevel = 1.9600;  // of a normal law, 2.5 % are beyond
  constexpr double kPower = 1.6449;  // 5 %
  if (!comparison.interval) return std::nullopt;
  const auto [low, high] = *comparison.interval;
  const double half = (std::log(high) - std::log(low)) / 2;
  return (1 + margin) * std::exp(half * (1 + kPower / kLevel));
}

double SignFlipP(std::span<const double> differences) {
  const std::vector<size_t> ranks = DoubledRanks(differences);
  size_t all = 0;
  size_t positive = 0;
  double squares = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    all += ranks[i];
    if (differences[i] > 0) positive += ranks[i];
    squares += static_cast<double>(ranks[i] * ranks[i]);
  }
  if (all == 0) return 1;
  const size_t lesser = std::min(positive, all - positive);
  if (ranks.size() <= kExact)
    return std::min(1.0, 2 * ShareUpTo(lesser, ranks));
  const double apart =
      static_cast<double>(all) / 2 - static_cast<double>(lesser);
  return std::min(1.0, std::erfc(apart / std::sqrt(squares / 2)));
}

std::vector<double> BenjaminiHochberg(std::span<const double> p_values) {
  const std::vector<size_t> order =
      OrderOf(p_values.size(), [&](size_t i) { return p_values[i]; });
  std::vector<double> q_values(p_values.size());
  double least = 1;
  for (size_t k = order.size(); k > 0; --k) {
    const double p = p_values[order[k - 1]];
    least = std::min(
        least, p * static_cast<double>(order.size()) / static_cast<double>(k));
    q_values[order[k - 1]] = least;
  }
  return q_values;
}

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kUnsure:
      return "unsure";
  }
  return "";
}

bool IsApart(const Comparison& comparison, double q_value,
             const Thresholds& thresholds) {
  const double most = 1 + thresholds.margin;
  return comparison.interval && q_value <= thresholds.q &&
         (comparison.interval->low > most ||
          comparison.interval->high < 1 / most);
}

Verdict VerdictOf(const Comparison& first, double q_value,
                  const std::optional<Comparison>& second,
                  const Thresholds& thresholds) {
  const double most = 1 + thresholds.margin;
  if (first.interval && first.interval->low >= 1 / most &&
      first.interval->high <= most) {
    return Verdict::kSame;
  }
  if (!second || !IsApart(first, q_value, thresholds) ||
      !IsApart(*second, second->p_value, thresholds) ||
      (first.ratio > 1) != (second->ratio > 1)) {
    return Verdict::kUnsure;
  }
  return first.ratio > 1 ? Verdict::kWorse : Verdict::kBetter;
}

}  // namespace assay::timing
