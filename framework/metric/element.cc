// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/element.h"

#include <algorithm>
#include <limits>

namespace assay::metric {
namespace {

using Table = std::array<double, 256>;
using Top = FloatFormat::Top;

constexpr Table MakeTable(const FloatFormat& format) {
  Table table = {};
  const uint32_t count = 1U
                         << (1 + format.exponent_bits + format.mantissa_bits);
  for (uint32_t bits = 0; bits < count; ++bits) {
    table[bits] = DecodeSmallFloat(format, bits);
  }
  return table;
}

// float8e8m0: no sign and no mantissa, 2^(bits - 127), all ones is NaN.
constexpr Table MakeE8M0() {
  Table table = {};
  for (size_t bits = 0; bits < table.size(); ++bits) {
    table[bits] = PowerOfTwo(static_cast<int>(bits) - 127);
  }
  table.back() = std::numeric_limits<double>::quiet_NaN();
  return table;
}

constexpr Table kE4M3FN = MakeTable({4, 3, 7, Top::kNanOnly});
constexpr Table kE4M3FNUZ = MakeTable({4, 3, 8, Top::kMinusNan});
constexpr Table kE5M2 = MakeTable({5, 2, 15, Top::kIeee});
constexpr Table kE5M2FNUZ = MakeTable({5, 2, 16, Top::kMinusNan});
constexpr Table kE8M0 = MakeE8M0();
constexpr Table kE2M3 = MakeTable({2, 3, 1, Top::kNumbers});
constexpr Table kE3M2 = MakeTable({3, 2, 3, Top::kNumbers});
constexpr Table kE2M1 = MakeTable({2, 1, 1, Top::kNumbers});

// The 1-based nearest rank of a quantile given in thousandths.
int64_t RankOf(int64_t count, int64_t thousandths) {
  return count / 1000 * thousandths + (count % 1000 * thousandths + 999) / 1000;
}

}  // namespace

const std::array<double, 256>* SmallFloatTable(DType type) {
  switch (type) {
    case DType::kFloat8E4M3FN:
      return &kE4M3FN;
    case DType::kFloat8E4M3FNUZ:
      return &kE4M3FNUZ;
    case DType::kFloat8E5M2:
      return &kE5M2;
    case DType::kFloat8E5M2FNUZ:
      return &kE5M2FNUZ;
    case DType::kFloat8E8M0:
      return &kE8M0;
    case DType::kFloat6E2M3:
      return &kE2M3;
    case DType::kFloat6E3M2:
      return &kE3M2;
    case DType::kFloat4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

FloatRange RangeOf(DType type) {
  switch (type) {
    case DType::kFloat32:
      return {23, -126, std::numeric_limits<float>::max(), false};
    case DType::kFloat16:
      return {10, -14, 65504, false};
    case DType::kBFloat16:
      return {7, -126, 0x1.FEp127, false};
    case DType::kFloat8E4M3FN:
      return {3, -6, 448};
    case DType::kFloat8E4M3FNUZ:
      return {3, -7, 240};
    case DType::kFloat8E5M2:
      return {2, -14, 57344};
    case DType::kFloat8E5M2FNUZ:
      return {2, -15, 57344};
    case DType::kFloat8E8M0:
      return {0, -127, 0x1p127};
    case DType::kFloat6E2M3:
      return {3, 0, 7.5};
    case DType::kFloat6E3M2:
      return {2, -2, 28};
    case DType::kFloat4E2M1:
      return {1, 0, 6};
    default:
      return {52, -1022, std::numeric_limits<double>::max(), false};
  }
}

double DecodeFloat(DType type, uint64_t bits) {
  if (const Table* table = SmallFloatTable(type)) {
    return (*table)[static_cast<uint8_t>(bits)];
  }
  switch (type) {
    case DType::kFloat64:
      return std::bit_cast<double>(bits);
    case DType::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DType::kFloat16:
      return DecodeFloat16(static_cast<uint16_t>(bits));
    case DType::kBFloat16:
      return DecodeBFloat16(static_cast<uint16_t>(bits));
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

uint64_t ElementBits(DType type, const std::byte* data, int64_t index) {
  const int width = BitsOf(type);
  switch (width) {
    case 16:
      return LoadElement<uint16_t>(data, index);
    case 32:
      return LoadElement<uint32_t>(data, index);
    case 64:
      return LoadElement<uint64_t>(data, index);
    default:
      break;
  }
  // At most a byte: an element may straddle two bytes (6 bits do).
  const int64_t offset = index * width;
  const auto shift = static_cast<int>(offset % 8);
  const std::byte* first = data + offset / 8;
  auto bits = std::to_integer<uint32_t>(first[0]) >> shift;
  if (shift + width > 8) {
    bits |= std::to_integer<uint32_t>(first[1]) << (8 - shift);
  }
  return bits & ((1U << width) - 1);
}

int64_t OrderedKey(DType type, uint64_t bits) {
  if (type == DType::kFloat8E8M0) return static_cast<int64_t>(bits);
  return OrderedKey(bits, BitsOf(type));
}

uint64_t UlpDistance(DType type, uint64_t a, uint64_t b) {
  return KeyDistance(OrderedKey(type, a), OrderedKey(type, b));
}

double UlpTally::AtRank(int64_t rank) {
  for (size_t distance = 0; distance < small_.size(); ++distance) {
    if (rank <= small_[distance]) return static_cast<double>(distance);
    rank -= small_[distance];
  }
  const auto place = static_cast<size_t>(rank) - 1;
  uint64_t* const all = large_.get();
  std::nth_element(all + selected_, all + place, all + n_large_);
  selected_ = place;
  return static_cast<double>(all[place]);
}

UlpSummary UlpTally::Summarize() {
  const auto count = static_cast<double>(count_);
  UlpSummary summary;
  summary.p50 = AtRank(RankOf(count_, 500));
  summary.p99 = AtRank(RankOf(count_, 990));
  summary.p999 = AtRank(RankOf(count_, 999));
  summary.max = AtRank(count_);
  summary.mean_signed = signed_sum_ / count;
  summary.share_zero = static_cast<double>(small_[0]) / count;
  return summary;
}

}  // namespace assay::metric
