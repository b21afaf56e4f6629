// SPDX-License-Identifier: Apache-2.0
//
// Codec: encodes a gradient in fewer bytes than it has; and SparseVector, a
// vector of float32 as pairs of index and number.
//
//   TopCodec codec(/*share=*/0.01);
//   std::vector<std::byte> sent(static_cast<size_t>(codec.BytesOf(count)));
//   codec.Encode(gradient, sent);
//   ASSAY_RETURN_IF_ERROR(codec.Decode(sent, numbers));

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/numbers.h"
#include "framework/core/status.h"

namespace assay::ranks {

class Codec {
 public:
  virtual ~Codec() = default;
  /// The bytes of `count` encoded numbers.
  virtual int64_t BytesOf(int64_t count) const = 0;
  /// Encodes `x` into `out`, which has BytesOf(x.size()) bytes.
  virtual void Encode(std::span<const float> x, std::span<std::byte> out) = 0;
  /// Decodes what another rank has encoded. Data loss for bytes that Encode
  /// does not write.
  virtual Status Decode(std::span<const std::byte> in,
                        std::span<float> x) const = 0;
};

/// Rounds each number to float16 or bfloat16, ties to even; to infinity beyond
/// the largest one.
class RoundingCodec : public Codec {
 public:
  explicit RoundingCodec(DType type) : type_(type) {}
  int64_t BytesOf(int64_t count) const override { return 2 * count; }
  void Encode(std::span<const float> x, std::span<std::byte> out) override;
  Status Decode(std::span<const std::byte> in,
                std::span<float> x) const override;

 private:
  const DType type_;
};

/// The indices of the top-k numbers by magnitude, greatest first and the first
/// of equals: k is `share`, from 0 to 1, of all, and 1 at least where there are
/// any. A NaN counts as infinity.
std::vector<int32_t> GreatestOf(std::span<const float> x, double share);

/// Top-k: the greatest numbers by magnitude with their indices (A. Aji, K.
/// Heafield, "Sparse communication for distributed gradient descent", 2017).
class TopCodec : public Codec {
 public:
  explicit TopCodec(double share) : share_(share) {}
  int64_t BytesOf(int64_t count) const override;
  void Encode(std::span<const float> x, std::span<std::byte> out) override;
  Status Decode(std::span<const std::byte> in,
                std::span<float> x) const override;

 private:
  const double share_;
};

/// One-bit SGD: the sign of each number, and the mean of the numbers >= 0 and
/// of those < 0 (F. Seide et al., "1-bit stochastic gradient descent and its
/// application to data-parallel distributed training of speech DNNs", 2014).
class SignCodec : public Codec {
 public:
  int64_t BytesOf(int64_t count) const override;
  void Encode(std::span<const float> x, std::span<std::byte> out) override;
  Status Decode(std::span<const std::byte> in,
                std::span<float> x) const override;
};

/// QSGD: rounds each number at random to a neighbouring multiple of norm /
/// `levels`, so that its mean over draws is the number (D. Alistarh et al.,
/// "QSGD: communication-efficient SGD via gradient quantization and encoding",
/// 2017, section 3.1). A byte for each number.
class LevelCodec : public Codec {
 public:
  /// `levels` is from 1 to 127. Each rank needs a seed of its own, or their
  /// errors add up.
  LevelCodec(int levels, uint64_t seed) : levels_(levels), drawn_(seed) {}
  int64_t BytesOf(int64_t count) const override;
  void Encode(std::span<const float> x, std::span<std::byte> out) override;
  Status Decode(std::span<const std::byte> in,
                std::span<float> x) const override;

 private:
  const int levels_;
  core::Numbers drawn_;
};

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
