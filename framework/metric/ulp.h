// SPDX-License-Identifier: Apache-2.0
//
// Units in the last place: how many representable numbers of a type lie
// between two of its values, and quantiles of such distances.
//
//   UlpDistance(DType::kFloat32, std::bit_cast<uint32_t>(1.0F),
//               std::bit_cast<uint32_t>(1.0000001F));  // 1
//
// A pattern is mapped to an integer that grows with its value, minus zero and
// zero both to 0, so that distances across zero count as they should (a naive
// difference of patterns gives 2^31 between the two zeros). Source: B. Dawson,
// "Comparing floating point numbers", the ordered integer form.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "framework/core/dtype.h"

namespace assay::metric {

/// The place of a finite value of a sign-magnitude type among all others.
/// `width` is its bits, 64 at most.
constexpr int64_t OrderedKey(uint64_t bits, int width) {
  const uint64_t sign_bit = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign_bit - 1));
  return (bits & sign_bit) != 0 ? -magnitude : magnitude;
}

/// The same for any float type. float8e8m0 has no sign.
int64_t OrderedKey(DType type, uint64_t bits);

/// |a - b| of two keys, which always fits 64 unsigned bits.
constexpr uint64_t KeyDistance(int64_t a, int64_t b) {
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

/// Steps between two finite values of a float type, given by their patterns.
uint64_t UlpDistance(DType type, uint64_t a, uint64_t b);

/// A summary of the distances of an output. Quantiles are nearest rank: the
/// smallest distance that at least that share of the elements does not exceed.
struct UlpSummary {
  double max = 0;
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double mean_signed = 0;  // of got - want: the bias
  /// Share of distance zero: where the expected value is the correctly rounded
  /// one, the share that is correctly rounded.
  double share_zero = 0;
};

/// Gathers the distances of at most `capacity` pairs. Small ones, which are
/// most, are only counted.
class UlpTally {
 public:
  explicit UlpTally(int64_t capacity)
      : large_(std::make_unique_for_overwrite<uint64_t[]>(
            static_cast<size_t>(capacity))) {}

  void Add(int64_t got_key, int64_t want_key) {
    const uint64_t distance = KeyDistance(got_key, want_key);
    ++count_;
    if (distance < kCounted) [[likely]] {
      ++small_[distance];
    } else {
      large_[n_large_++] = distance;
    }
    const auto step = static_cast<double>(distance);
    signed_sum_ += got_key < want_key ? -step : step;
  }

  int64_t count() const { return count_; }

  /// Needs at least one pair. Selects, does not sort: linear in the pairs.
  UlpSummary Summarize();

 private:
  static constexpr uint64_t kCounted = 256;

  /// The distance of 1-based rank `rank`. Ranks must not fall from call to
  /// call: each selection goes on in what the last left above it.
  double AtRank(int64_t rank);

  std::array<int64_t, kCounted> small_ = {};
  std::unique_ptr<uint64_t[]> large_;
  size_t n_large_ = 0;
  size_t selected_ = 0;  // of large_: those before are no larger than any after
  int64_t count_ = 0;
  double signed_sum_ = 0;
};

}  // namespace assay::metric
