// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/codec/codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "framework/core/tensor.h"
#include "framework/metric/element.h"
#include "framework/ranks/number.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {
namespace {

// An element that TopCodec sends.
constexpr size_t kPlace = sizeof(int32_t), kPair = kPlace + sizeof(float);
// The header of SignCodec, before its bits.
constexpr size_t kMeans = 2 * sizeof(float);

template <class T>
void Put(T value, size_t at, std::span<std::byte> out) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

template <class T>
T Get(std::span<const std::byte> in, size_t at) {
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

float SizeOf(float x) {
  return std::isnan(x) ? std::numeric_limits<float>::infinity() : std::fabs(x);
}

/// The count of numbers that are kept of `count`.
int64_t KeptOf(int64_t count, double share) {
  const auto kept =
      static_cast<int64_t>(std::ceil(share * static_cast<double>(count)));
  return std::clamp<int64_t>(kept, std::min<int64_t>(count, 1), count);
}

constexpr int64_t kSparsePair = sizeof(PlacedNumber), kNumber = sizeof(float);

std::vector<float> Spread(int64_t size, std::span<const PlacedNumber> pairs) {
  std::vector<float> numbers(static_cast<size_t>(size));
  for (const PlacedNumber& each : pairs) {
    numbers[static_cast<size_t>(each.place)] = each.number;
  }
  return numbers;
}

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

Status ExchangeIn(const Step& step, std::span<const std::byte> out,
                  std::span<std::byte> in, Endpoint& endpoint) {
  return endpoint.Exchange(
      step.to, step.to == kNobody ? std::span<const std::byte>() : out,
      step.from, step.from == kNobody ? std::span<std::byte>() : in);
}

/// Sends `mine`, and returns the bytes of the vector that comes; none where the
/// step receives from nobody.
Result<std::vector<std::byte>> Swap(const Step& step, const SparseVector& mine,
                                    Endpoint& endpoint) {
  const int64_t length = std::ssize(mine.bytes());
  int64_t coming = 0;
  ASSAY_RETURN_IF_ERROR(
      ExchangeIn(step, std::as_bytes(std::span(&length, 1)),
                 std::as_writable_bytes(std::span(&coming, 1)), endpoint));
  if (step.from != kNobody) {
    ASSAY_RETURN_IF_ERROR(SparseVector::CheckLength(mine.size(), coming));
  }
  std::vector<std::byte> came(static_cast<size_t>(coming));
  ASSAY_RETURN_IF_ERROR(ExchangeIn(step, mine.bytes(), came, endpoint));
  return came;
}

}  // namespace

void RoundingCodec::Encode(std::span<const float> x, std::span<std::byte> out) {
  for (size_t i = 0; i < x.size(); ++i) Put(ShortBits(type_, x[i]), 2 * i, out);
}

Status RoundingCodec::Decode(std::span<const std::byte> in,
                             std::span<float> x) const {
  for (size_t i = 0; i < x.size(); ++i) {
    const auto bits = Get<uint16_t>(in, 2 * i);
    x[i] = static_cast<float>(type_ == DType::kFloat16
                                  ? metric::DecodeFloat16(bits)
                                  : metric::DecodeBFloat16(bits));
  }
  return OkStatus();
}

std::vector<int32_t> GreatestOf(std::span<const float> x, double share) {
  std::vector<int32_t> places(x.size());
  std::iota(places.begin(), places.end(), 0);
  const auto before = [&](int32_t a, int32_t b) {
    const float of_a = SizeOf(x[static_cast<size_t>(a)]);
    const float of_b = SizeOf(x[static_cast<size_t>(b)]);
    return of_a > of_b || (of_a == of_b && a < b);
  };
  const int64_t kept = KeptOf(std::ssize(x), share);
  const auto end = places.begin() + kept;
  std::nth_element(places.begin(), end, places.end(), before);
  std::sort(places.begin(), end, before);
  places.resize(static_cast<size_t>(kept));
  return places;
}

int64_t TopCodec::BytesOf(int64_t count) const {
  return int64_t{kPair} * KeptOf(count, share_);
}

void TopCodec::Encode(std::span<const float> x, std::span<std::byte> out) {
  size_t at = 0;
  for (const int32_t place : GreatestOf(x, share_)) {
    Put(place, at, out);
    Put(x[static_cast<size_t>(place)], at + kPlace, out);
    at += kPair;
  }
}

Status TopCodec::Decode(std::span<const std::byte> in,
                        std::span<float> x) const {
  std::ranges::fill(x, 0.0F);
  for (size_t at = 0; at < in.size(); at += kPair) {
    const auto place = Get<int32_t>(in, at);
    if (place < 0 || static_cast<size_t>(place) >= x.size()) {
      return DataLoss("found a number at place ", place, ", wanted 0 to ",
                      x.size(), " without its end");
    }
    x[static_cast<size_t>(place)] = Get<float>(in, at + kPlace);
  }
  return OkStatus();
}

int64_t SignCodec::BytesOf(int64_t count) const {
  return int64_t{kMeans} + (count + 7) / 8;
}

void SignCodec::Encode(std::span<const float> x, std::span<std::byte> out) {
  std::ranges::fill(out, std::byte{0});
  double sums[2] = {};
  int64_t counts[2] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t kind = x[i] < 0 ? 1 : 0;
    sums[kind] += x[i];
    ++counts[kind];
    if (kind == 1) out[kMeans + i / 8] |= std::byte{1} << (i % 8);
  }
  for (size_t kind = 0; kind < 2; ++kind) {
    const double mean =
        counts[kind] == 0 ? 0 : sums[kind] / static_cast<double>(counts[kind]);
    Put(static_cast<float>(mean), kind * sizeof(float), out);
  }
}

Status SignCodec::Decode(std::span<const std::byte> in,
                         std::span<float> x) const {
  for (size_t i = 0; i < x.size(); ++i) {
    const std::byte bit = in[kMeans + i / 8] >> (i % 8) & std::byte{1};
    x[i] = Get<float>(in, std::to_integer<size_t>(bit) * sizeof(float));
  }
  return OkStatus();
}

int64_t LevelCodec::BytesOf(int64_t count) const {
  constexpr int64_t kNorm = sizeof(float);
  return kNorm + count;
}

void LevelCodec::Encode(std::span<const float> x, std::span<std::byte> out) {
  double squares = 0;
  for (const float each : x) squares += double{each} * double{each};
  const auto norm = static_cast<float>(std::sqrt(squares));
  Put(norm, 0, out);
  for (size_t i = 0; i < x.size(); ++i) {
    // The norm is rounded: a number may lie above the last level.
    const double level =
        norm > 0 && std::isfinite(norm)
            ? std::min<double>(std::fabs(x[i]) / double{norm} * levels_,
                               levels_)
            : 0;
    const double below = std::floor(level);
    const double up = drawn_.Share() < level - below ? 1 : 0;
    const auto size = static_cast<int8_t>(below + up);
    Put(static_cast<int8_t>(x[i] < 0 ? -size : size), sizeof(float) + i, out);
  }
}

Status LevelCodec::Decode(std::span<const std::byte> in,
                          std::span<float> x) const {
  const auto norm = double{Get<float>(in, 0)};
  for (size_t i = 0; i < x.size(); ++i) {
    const int level = Get<int8_t>(in, sizeof(float) + i);
    if (std::abs(level) > levels_) {
      return DataLoss("found the level ", level, ", wanted at most ", levels_);
    }
    x[i] = static_cast<float>(norm * level / levels_);
  }
  return OkStatus();
}

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

Status FeedbackScheme::SendOne(std::vector<float>* rest, Tensor* gradient) {
  if (gradient->dtype() != DType::kFloat32) {
    return Unsupported(Reason::kDType, "found a gradient of type ",
                       ToString(gradient->dtype()), ", wanted float32");
  }
  const auto numbers = gradient->mutable_elements<float>();
  rest->resize(numbers.size());
  std::ranges::transform(*rest, numbers, rest->begin(), std::plus());
  return Exchange(*rest, numbers);
}

Result<double> FeedbackScheme::Step(train::Objective& objective) {
  Between together(objective, {}, [&](std::span<Tensor> gradients) {
    rests_.resize(gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(SendOne(&rests_[i], &gradients[i]));
    }
    return OkStatus();
  });
  return optimizer_->Step(together);
}

Status CompressedScheme::Exchange(std::span<float> rest,
                                  std::span<float> gradient) {
  const int64_t bytes = codec_->BytesOf(std::ssize(rest));
  ASSAY_ASSIGN_OR_RETURN(
      Tensor blocks,
      Tensor::Allocate(DType::kUint8, {bytes * endpoint_.size()}));
  const auto block = [&](int rank) {
    return std::span(blocks.mutable_data() + bytes * rank,
                     static_cast<size_t>(bytes));
  };
  codec_->Encode(rest, block(endpoint_.rank()));
  ASSAY_RETURN_IF_ERROR(RunCollective({.operation = Operation::kAllGather,
                                       .algorithm = options_.algorithm,
                                       .ranks = endpoint_.size(),
                                       .count = bytes},
                                      Reduction::kSum, endpoint_, &blocks));
  std::vector<double> sum(rest.size());
  std::vector<float> sent(rest.size());
  for (int rank = 0; rank < endpoint_.size(); ++rank) {
    ASSAY_RETURN_IF_ERROR(codec_->Decode(block(rank), sent));
    std::ranges::transform(sum, sent, sum.begin(), std::plus<double>());
    if (rank != endpoint_.rank()) continue;
    std::ranges::transform(rest, sent, rest.begin(), std::minus());
    if (!options_.keeps_rest) std::ranges::fill(rest, 0.0F);
  }
  std::ranges::transform(sum, gradient.begin(), [&](double each) {
    return static_cast<float>(each / endpoint_.size());
  });
  return OkStatus();
}

Result<SparseVector> SparseSum(SparseVector mine, Endpoint& endpoint) {
  ASSAY_ASSIGN_OR_RETURN(const Schedule schedule,
                         ScheduleOf({.operation = Operation::kAllReduce,
                                     .algorithm = Algorithm::kRecursiveDoubling,
                                     .ranks = endpoint.size(),
                                     .count = mine.size()},
                                    endpoint.rank()));
  for (const Step& step : schedule) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           Swap(step, mine, endpoint));
    if (step.from == kNobody) continue;
    ASSAY_ASSIGN_OR_RETURN(SparseVector came,
                           SparseVector::FromBytes(mine.size(), bytes));
    if (!step.combines) {
      mine = std::move(came);
    } else if (step.from < endpoint.rank()) {
      mine = SumOf(came, mine);
    } else {
      mine = SumOf(mine, came);
    }
  }
  return mine;
}

Status SparseScheme::Exchange(std::span<float> rest,
                              std::span<float> gradient) {
  std::vector<int32_t> places = GreatestOf(rest, share_);
  std::ranges::sort(places);
  std::vector<PlacedNumber> sent;
  for (const int32_t place : places) {
    float& number = rest[static_cast<size_t>(place)];
    sent.push_back({place, std::exchange(number, 0.0F)});
  }
  ASSAY_ASSIGN_OR_RETURN(
      const SparseVector sum,
      SparseSum(SparseVector(std::ssize(rest), std::move(sent)), endpoint_));
  std::ranges::transform(sum.Numbers(), gradient.begin(), [&](float each) {
    return static_cast<float>(double{each} / endpoint_.size());
  });
  return OkStatus();
}

}  // namespace assay::ranks
