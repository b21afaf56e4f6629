// SPDX-License-Identifier: Apache-2.0
//
// Codec: encodes a gradient in fewer bytes than it has; and SparseVector, a
// vector of float32 as pairs of index and number. Schemes send gradients so:
// CompressedScheme all-reduces what a codec encodes, and SparseScheme the top-k
// as sparse vectors.
//
//   TopCodec codec(/*share=*/0.01);
//   std::vector<std::byte> sent(static_cast<size_t>(codec.BytesOf(count)));
//   codec.Encode(gradient, sent);
//   ASSAY_RETURN_IF_ERROR(codec.Decode(sent, numbers));

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

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

/// The base of schemes with error feedback: a rank adds to its next gradients
/// what it has not sent of those before. Source: S. Stich, J. Cordonnier, M.
/// Jaggi, "Sparsified SGD with memory", 2018.
class FeedbackScheme : public OptimizerScheme {
 public:
  using OptimizerScheme::OptimizerScheme;
  /// Unsupported for gradients of a type other than float32.
  Result<double> Step(train::Objective& objective) override;

  /// The residual of each gradient on this rank.
  std::span<const std::vector<float>> rests() const { return rests_; }

 private:
  /// Called for each gradient in turn: `rest` has all that should be sent, and
  /// keeps what was not; `gradient` becomes the mean of what all ranks send.
  /// Both have the gradient's elements.
  virtual Status Exchange(std::span<float> rest, std::span<float> gradient) = 0;
  Status SendOne(std::vector<float>* rest, Tensor* gradient);

  std::vector<std::vector<float>> rests_;
};

/// Every rank all-gathers the encoded tensors, sums them in double in the order
/// of the ranks, divides once and rounds once: all take the same step. The
/// error of a rank's encoding is added to its next gradient, or dropped.
class CompressedScheme : public FeedbackScheme {
 public:
  struct Options {
    Algorithm algorithm = Algorithm::kRing;  // of the all-gather
    bool keeps_rest = true;
  };

  CompressedScheme(Endpoint& endpoint,
                   std::unique_ptr<train::Optimizer> optimizer,
                   std::unique_ptr<Codec> codec, Options options)
      : FeedbackScheme(endpoint, std::move(optimizer)),
        codec_(std::move(codec)),
        options_(options) {}

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient) override;

  std::unique_ptr<Codec> codec_;
  const Options options_;
};

/// Sums the vectors of all ranks, which have one size, to the same bits on
/// every rank. Source: SSAR_Recursive_double of C. Renggli et al., "SparCML:
/// high-performance sparse communication for machine learning", 2019.
///
/// The messages are those of recursive doubling, each as two: the length in 8
/// bytes, which a receiver cannot know, then the vector. In stage i, from 0, a
/// rank sends the sum of 2^i ranks: 8 k 2^i bytes where each rank has k pairs
/// and no two ranks have an index in common, 8 k where all have the same
/// indices, and never more than 4 bytes for each number of the vector. Data
/// loss for a message that is no vector of the size.
Result<SparseVector> SparseSum(SparseVector mine, Endpoint& endpoint);

/// Every rank sends the top-k of each gradient, as TopCodec, and keeps the
/// others for its next gradient. The sum is divided once: all take the
/// same step.
class SparseScheme : public FeedbackScheme {
 public:
  SparseScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
               double share)
      : FeedbackScheme(endpoint, std::move(optimizer)), share_(share) {}

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient) override;

  const double share_;  // of the numbers, from 0 to 1
};

}  // namespace assay::ranks
