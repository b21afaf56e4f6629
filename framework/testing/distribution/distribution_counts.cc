// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/core/text.h"

namespace assay::distribution {
namespace {

constexpr size_t kWatched = 64;

double LogFactorial(int64_t n) {
  return std::lgamma(static_cast<double>(n) + 1);
}

// Half of them neighbours from the first on, the others spread over the rest.
std::vector<size_t> WatchedOf(const std::vector<Chance>& chances) {
  std::vector<size_t> varying;
  for (size_t i = 0; i < chances.size(); ++i) {
    if (!chances[i].certain()) varying.push_back(i);
  }
  if (varying.size() <= kWatched) return varying;
  constexpr size_t kNear = kWatched / 2;
  std::vector<size_t> watched(varying.begin(), varying.begin() + kNear);
  const size_t rest = varying.size() - kNear;
  for (size_t i = 0; i < kWatched - kNear; ++i) {
    watched.push_back(varying[kNear + i * rest / (kWatched - kNear)]);
  }
  return watched;
}

// The probability that two independent elements agree. It is linear in either
// probability, so that its bounds are at the corners.
Chance Agreement(const Chance& a, const Chance& b) {
  const auto agree = [](double p, double q) {
    return p * q + (1 - p) * (1 - q);
  };
  const auto [least, most] =
      std::minmax({agree(a.least, b.least), agree(a.least, b.most),
                   agree(a.most, b.least), agree(a.most, b.most)});
  return {least, most};
}

std::string ChanceText(const Chance& chance) {
  if (chance.most - chance.least < 1e-6) return StrCat(chance.most);
  return StrCat(chance.least, " to ", chance.most);
}

}  // namespace

double UpperTail(int64_t hits, int64_t trials, double p) {
  if (static_cast<double>(hits) <= static_cast<double>(trials) * p) return 1;
  if (p <= 0) return 0;
  // P(X = hits), and from there on the ratio of each term to the one before.
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(hits);
  double term = std::exp(LogFactorial(trials) - LogFactorial(hits) -
                         LogFactorial(trials - hits) + k * std::log(p) +
                         (n - k) * std::log1p(-p));
  double tail = 0;
  for (double i = k; i <= n && term > tail * 1e-17; ++i) {
    tail += term;
    term *= (n - i) / (i + 1) * (p / (1 - p));
  }
  return tail;
}

double PValue(int64_t hits, int64_t trials, const Chance& chance) {
  const double above = UpperTail(hits, trials, chance.most);
  const double below = UpperTail(trials - hits, trials, 1 - chance.least);
  return std::min(1.0, 2 * std::min(above, below));
}

std::string CountTest::Describe() const {
  const double share = static_cast<double>(hits) / static_cast<double>(trials);
  std::string what;
  switch (kind) {
    case Kind::kShare:
      what = StrCat("at ", element, " on");
      break;
    case Kind::kPair:
      what = StrCat("at ", element, " as at ", other);
      break;
    case Kind::kRepeat:
      what = StrCat("at ", element, " as ", other, " draws before");
      break;
    case Kind::kWhole:
      what = StrCat("all elements as ", other, " draws before");
      break;
  }
  return StrCat(what, " in a share of ", share, " of ", trials,
                kind == Kind::kShare || kind == Kind::kPair ? " draws"
                                                            : " pairs of draws",
                ", wanted ", ChanceText(chance));
}

DrawCounts::DrawCounts(std::vector<Chance> chances)
    : chances_(std::move(chances)),
      ones_(chances_.size()),
      watched_(WatchedOf(chances_)) {}

void DrawCounts::Add(std::span<const uint8_t> on) {
  for (size_t i = 0; i < ones_.size(); ++i) ones_[i] += on[i];
  uint64_t word = 0;
  for (size_t k = 0; k < watched_.size(); ++k) {
    word |= static_cast<uint64_t>(on[watched_[k]]) << k;
  }
  words_.push_back(word);
  hashes_.push_back(core::StableHash(std::as_bytes(std::span(on))));
}

void DrawCounts::AddPairs(std::vector<CountTest>& tests) const {
  // Element k of draws 64 b ... 64 b + 63 is column[k][b].
  const size_t n_blocks = (words_.size() + 63) / 64;
  std::vector<std::vector<uint64_t>> columns(watched_.size());
  for (size_t k = 0; k < watched_.size(); ++k) {
    columns[k].resize(n_blocks);
    for (size_t t = 0; t < words_.size(); ++t) {
      columns[k][t / 64] |= (words_[t] >> k & 1U) << (t % 64);
    }
  }
  for (size_t i = 0; i < watched_.size(); ++i) {
    for (size_t j = i + 1; j < watched_.size(); ++j) {
      int64_t differ = 0;
      for (size_t b = 0; b < n_blocks; ++b) {
        differ += std::popcount(columns[i][b] ^ columns[j][b]);
      }
      tests.push_back(
          {.kind = CountTest::Kind::kPair,
           .element = static_cast<int64_t>(watched_[i]),
           .other = static_cast<int64_t>(watched_[j]),
           .hits = draws() - differ,
           .trials = draws(),
           .chance = Agreement(chances_[watched_[i]], chances_[watched_[j]])});
    }
  }
}

void DrawCounts::AddRepeats(int64_t lag, std::vector<CountTest>& tests) const {
  if (watched_.empty()) return;
  // Draws 0 to lag - 1 with lag to 2 lag - 1, then the next 2 lag draws.
  std::vector<int64_t> agree(watched_.size());
  int64_t whole = 0;
  int64_t pairs = 0;
  for (int64_t t = 0; t + lag < draws(); ++t) {
    if (t / lag % 2 != 0) continue;
    const auto now = static_cast<size_t>(t);
    const auto later = static_cast<size_t>(t + lag);
    const uint64_t same = ~(words_[now] ^ words_[later]);
    for (size_t k = 0; k < agree.size(); ++k) {
      agree[k] += static_cast<int64_t>(same >> k & 1U);
    }
    whole += hashes_[now] == hashes_[later] ? 1 : 0;
    ++pairs;
  }
  for (size_t k = 0; k < agree.size(); ++k) {
    const Chance& chance = chances_[watched_[k]];
    tests.push_back({.kind = CountTest::Kind::kRepeat,
                     .element = static_cast<int64_t>(watched_[k]),
                     .other = lag,
                     .hits = agree[k],
                     .trials = pairs,
                     .chance = Agreement(chance, chance)});
  }
  Chance all{1, 1};
  for (const Chance& chance : chances_) {
    const Chance one = Agreement(chance, chance);
    all = {all.least * one.least, all.most * one.most};
  }
  tests.push_back({.kind = CountTest::Kind::kWhole,
                   .other = lag,
                   .hits = whole,
                   .trials = pairs,
                   .chance = all});
}

std::vector<CountTest> DrawCounts::Tests() const {
  std::vector<CountTest> tests;
  for (size_t i = 0; i < ones_.size(); ++i) {
    tests.push_back({.element = static_cast<int64_t>(i),
                     .hits = ones_[i],
                     .trials = draws(),
                     .chance = chances_[i]});
  }
  AddPairs(tests);
  AddRepeats(1, tests);
  if (draws() >= 4) AddRepeats(draws() / 2, tests);
  for (CountTest& test : tests) {
    test.p_value = PValue(test.hits, test.trials, test.chance);
  }
  return tests;
}

const CountTest& Unlikeliest(const std::vector<CountTest>& tests) {
  return *std::ranges::min_element(
      tests, {}, [](const CountTest& test) { return test.p_value; });
}

}  // namespace assay::distribution
