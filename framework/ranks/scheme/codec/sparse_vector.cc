// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/sparse_vector.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace assay::ranks {
namespace {

constexpr int64_t kSparsePair = sizeof(PlacedNumber), kNumber = sizeof(float);

std::vector<float> Spread(int64_t size, std::span<const PlacedNumber> pairs) {
  std::vector<float> numbers(static_cast<size_t>(size));
  for (const PlacedNumber& each : pairs) {
    numbers[static_cast<size_t>(each.place)] = each.number;
  }
  return numbers;
}

/// Merges the pairs of both by index.
std::vector<PlacedNumber> Merged(std::span<const PlacedNumber> first,
                                 std::span<const PlacedNumber> second) {
  std::vector<PlacedNumber> merged;
  while (!first.empty() && !second.empty()) {
    const PlacedNumber one = first.front();
    const PlacedNumber other = second.front();
    const int32_t place = std::min(one.place, other.place);
    float number = one.place == place ? one.number : other.number;
    if (one.place == other.place) number += other.number;
    merged.push_back({place, number});
    if (one.place == place) first = first.subspan(1);
    if (other.place == place) second = second.subspan(1);
  }
  merged.insert(merged.end(), first.begin(), first.end());
  merged.insert(merged.end(), second.begin(), second.end());
  return merged;
}

/// True where all numbers take no more bytes than the pairs.
bool IsDense(int64_t size, int64_t n_pairs) {
  return kSparsePair * n_pairs >= kNumber * size;
}

}  // namespace

SparseVector::SparseVector(int64_t size, std::vector<PlacedNumber> pairs)
    : size_(size), is_dense_(IsDense(size, std::ssize(pairs))) {
  if (is_dense_) {
    numbers_ = Spread(size, pairs);
  } else {
    pairs_ = std::move(pairs);
  }
}

SparseVector::SparseVector(std::vector<float> numbers)
    : size_(std::ssize(numbers)),
      is_dense_(true),
      numbers_(std::move(numbers)) {}

Status SparseVector::CheckLength(int64_t size, int64_t bytes) {
  const int64_t dense = kNumber * size;
  const bool is_sparse =
      bytes >= 0 && bytes < dense && bytes % kSparsePair == 0;
  if (is_sparse || bytes == dense) return OkStatus();
  return DataLoss("found ", bytes, " bytes of a sparse vector, wanted ",
                  kSparsePair, " for each pair, or ", dense);
}

Result<SparseVector> SparseVector::FromBytes(int64_t size,
                                             std::span<const std::byte> bytes) {
  ASSAY_RETURN_IF_ERROR(CheckLength(size, std::ssize(bytes)));
  if (std::ssize(bytes) == kNumber * size) {
    std::vector<float> numbers(static_cast<size_t>(size));
    std::ranges::copy(bytes,
                      std::as_writable_bytes(std::span(numbers)).begin());
    return SparseVector(std::move(numbers));
  }
  std::vector<PlacedNumber> pairs(bytes.size() / size_t{kSparsePair});
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(pairs)).begin());
  int64_t least = 0;
  for (const PlacedNumber& each : pairs) {
    if (each.place < least || each.place >= size) {
      return DataLoss("found a number at place ", each.place, ", wanted ",
                      least, " to ", size, " without its end");
    }
    least = int64_t{each.place} + 1;
  }
  return SparseVector(size, std::move(pairs));
}

std::span<const std::byte> SparseVector::bytes() const {
  return is_dense_ ? std::as_bytes(std::span(numbers_))
                   : std::as_bytes(std::span(pairs_));
}

std::vector<float> SparseVector::Numbers() const {
  return is_dense_ ? numbers_ : Spread(size_, pairs_);
}

SparseVector SumOf(const SparseVector& first, const SparseVector& second) {
  if (!first.is_dense_ && !second.is_dense_) {
    return {first.size_, Merged(first.pairs_, second.pairs_)};
  }
  std::vector<float> sum = first.Numbers();
  std::ranges::transform(sum, second.Numbers(), sum.begin(), std::plus());
  return SparseVector(std::move(sum));
}

}  // namespace assay::ranks
