// SPDX-License-Identifier: Apache-2.0
//
// SparseVector: a vector of float32 of which few numbers are sent, each with its place,
// or all of them where that is no more bytes.
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

/// What is sent of a number that is not sent alone.
struct PlacedNumber {
  int32_t place = 0;
  float number = 0;
};

/// It is dense from where 8 bytes for each pair are as many as 4 for each number, and a
/// dense one stays so: as in C. Renggli et al., "SparCML: high-performance sparse
/// communication for machine learning", 2019, the switch depends on the bytes alone.
class SparseVector {
 public:
  /// `pairs` stand in the order of their places, which are from 0 to below `size`. The
  /// other numbers are 0.
  SparseVector(int64_t size, std::vector<PlacedNumber> pairs);

  /// What another rank sent of such a vector. Data loss for bytes that no vector of that
  /// size has: of another length, or with places that do not ascend or are none.
  static Result<SparseVector> FromBytes(int64_t size,
                                        std::span<const std::byte> bytes);
  /// Data loss where no vector of that size has so many bytes.
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

/// Of two vectors of one size. Where both have a number, that of the first is added to
/// first: who adds the same two gets the same bits.
SparseVector SumOf(const SparseVector& first, const SparseVector& second);

}  // namespace assay::ranks
