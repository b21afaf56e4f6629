// SPDX-License-Identifier: Apache-2.0
//
// Codec: encodes a gradient in fewer bytes than it has.
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

}  // namespace assay::ranks
