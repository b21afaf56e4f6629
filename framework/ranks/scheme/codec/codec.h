// SPDX-License-Identifier: Apache-2.0
//
// Codec: what goes to other ranks in place of a gradient, in fewer bytes than it has.
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
  /// Of so many numbers.
  virtual int64_t BytesOf(int64_t count) const = 0;
  /// `out` has the bytes of as many numbers as `x` has.
  virtual void Encode(std::span<const float> x, std::span<std::byte> out) = 0;
  /// What another rank makes of them. Data loss for bytes that Encode does not write.
  virtual Status Decode(std::span<const std::byte> in,
                        std::span<float> x) const = 0;
};

/// Each number rounded to 16 bits, float16 or bfloat16, ties to even; infinity beyond the
/// largest one.
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

/// The places of the numbers of greatest magnitude, of equals the first: a share of all,
/// from 0 to 1, and one at least where there are any. The greatest comes first. NaN counts
/// as infinity.
std::vector<int32_t> GreatestOf(std::span<const float> x, double share);

/// The greatest numbers, each with its place (A. Aji, K. Heafield, "Sparse communication
/// for distributed gradient descent", 2017).
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

/// A bit for each number: at least zero, or below, and the mean of each kind (F. Seide et
/// al., "1-bit stochastic gradient descent and its application to data-parallel
/// distributed training of speech DNNs", 2014).
class SignCodec : public Codec {
 public:
  int64_t BytesOf(int64_t count) const override;
  void Encode(std::span<const float> x, std::span<std::byte> out) override;
  Status Decode(std::span<const std::byte> in,
                std::span<float> x) const override;
};

/// QSGD: a multiple of the norm over `levels`, up or down at random, so that the mean over
/// draws is the number (D. Alistarh et al., "QSGD: communication-efficient SGD via
/// gradient quantization and encoding", 2017, section 3.1). A byte for each number.
class LevelCodec : public Codec {
 public:
  /// From 1 to 127 levels. Each rank has a seed of its own, or their errors add up.
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
