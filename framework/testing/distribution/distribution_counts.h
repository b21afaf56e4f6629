// SPDX-License-Identifier: Apache-2.0
//
// DrawCounts: counts over repeated draws of elements that are each on or off,
// and how unlikely the counts are under the law of the draws.
//
//   DrawCounts counts(chances);
//   for (auto on : draws) counts.Add(on);  // a byte an element
//   const CountTest worst = Unlikeliest(counts.Tests());
//   worst.p_value * n_tests;              // Bonferroni
//
// Every count is of independent trials with one known probability, so that its
// law is binomial and its tails are exact, whatever the number of draws:
//
//     share      element i is on
//     pair       elements i and j agree: with p of i and q of j, independent
//                elements do with probability p q + (1 - p)(1 - q)
//     repeat     element i agrees with itself a number of draws before, draws
//                being taken in disjoint pairs: p p + (1 - p)(1 - p)
//     whole      all elements agree with themselves so: the product of these
//
// All elements have a share; at most 64 of those that vary are watched for the
// others, half of them neighbours.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::distribution {

/// A probability, known to lie between two bounds.
struct Chance {
  double least = 0;
  double most = 0;

  bool certain() const { return most <= 0 || least >= 1; }
};

/// `hits` of `trials` independent trials that succeed with `chance`.
struct CountTest {
  enum class Kind : uint8_t { kShare, kPair, kRepeat, kWhole };
  Kind kind = Kind::kShare;
  int64_t element = -1;  // -1: of a whole draw
  int64_t other = -1;    // the other element, or how many draws before
  int64_t hits = 0;
  int64_t trials = 0;
  Chance chance;
  double p_value = 1;

  /// "at 3 on in a share of 0.61 of 10000 draws, wanted 0.5449".
  std::string Describe() const;
};

/// P(X >= hits) of a binomial X, exact to rounding; 1 where `hits` is not above
/// the mean. 0 <= p <= 1.
double UpperTail(int64_t hits, int64_t trials, double p);

/// Twice the smaller of both tails, each at the bound of `chance` that makes
/// it greatest; at most 1.
double PValue(int64_t hits, int64_t trials, const Chance& chance);

class DrawCounts {
 public:
  /// The probability of each element to be on.
  explicit DrawCounts(std::vector<Chance> chances);

  /// One draw: for each element, whether it is on (1) or off (0).
  void Add(std::span<const uint8_t> on);

  int64_t draws() const { return static_cast<int64_t>(words_.size()); }
  std::vector<CountTest> Tests() const;

 private:
  void AddPairs(std::vector<CountTest>& tests) const;
  void AddRepeats(int64_t lag, std::vector<CountTest>& tests) const;

  std::vector<Chance> chances_;
  std::vector<int64_t> ones_;     // by element
  std::vector<size_t> watched_;   // elements, at most 64
  std::vector<uint64_t> words_;   // by draw: a bit for each watched element
  std::vector<uint64_t> hashes_;  // by draw: of all elements
};

/// The test of the smallest p-value; `tests` must not be empty.
const CountTest& Unlikeliest(const std::vector<CountTest>& tests);

}  // namespace assay::distribution
