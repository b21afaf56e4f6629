// SPDX-License-Identifier: Apache-2.0
//
// SparseVector: a vector of float32 as pairs of index and number, or as all
// numbers where that takes no more bytes.
//
//   const SparseVector one(/*size=*/100, {{.place = 3, .number = 2}});
//   const SparseVector other(/*size=*/100, {{.place = 7, .number = 5}});
//   const SparseVector sum = SumOf(one, other);

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"

namespace assay::ranks {

/// An index and its number.
struct PlacedNumber {
  int32_t place = 0;
  float number = 0;
};

/// Becomes dense where 8 bytes a pair are as many as 4 bytes a number, and
/// stays so. As in C. Renggli et al., "SparCML: high-performance sparse
/// communication for machine learning", 2019, the switch depends on the bytes
/// alone.
class SparseVector {
 public:
  /// `pairs` ascend by index, from 0 to below `size`. The other numbers are 0.
  SparseVector(int64_t size, std::vector<PlacedNumber> pairs);

  /// Reads the bytes of another rank's vector. Data loss for another length
  /// than a vector of that size can have, or for indices that do not ascend or
  /// are out of range.
  static Result<SparseVector> FromBytes(int64_t size,
                                        std::span<const std::byte> bytes);
  /// Data loss where a vector of that size cannot have so many bytes.
  static Status CheckLength(int64_t size, int64_t bytes);

  int64_t size() const { return size_; }
  bool is_dense() const { return is_dense_; }
  /// The pairs, or all numbers.
  std::span<const std::byte> bytes() const;
  /// All numbers.
  std::vector<float> Numbers() const;

 private:
  explicit SparseVector(std::vector<float> numbers);
  friend SparseVector SumOf(const SparseVector& first,
                            const SparseVector& second);

  int64_t size_;
  bool is_dense_;
  std::vector<PlacedNumber> pairs_;  // empty where it is dense
  std::vector<float> numbers_;       // empty where it is not
};

/// The sum of two vectors of one size. Where both have a number, the first
/// one's comes first, so that every rank that adds the same two gets the same
/// bits.
SparseVector SumOf(const SparseVector& first, const SparseVector& second);

}  // namespace assay::ranks
