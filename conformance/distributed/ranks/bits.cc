// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/bits.h"

#include <algorithm>
#include <bit>

#include "framework/core/numbers.h"
#include "framework/core/text.h"

namespace assay::distributed {

int64_t DifferingBits(std::span<const std::byte> got,
                      std::span<const std::byte> wanted) {
  if (std::ranges::equal(got, wanted)) return 0;  // as nearly always
  int64_t bits = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    bits += std::popcount(std::to_integer<uint8_t>(got[i] ^ wanted[i]));
  }
  return bits;
}

std::span<const std::byte> PartOf(const Tensor& buffer, ranks::Part part) {
  const auto width = static_cast<size_t>(BitsOf(buffer.dtype()) / 8);
  return buffer.bytes().subspan(static_cast<size_t>(part.begin) * width,
                                static_cast<size_t>(part.count) * width);
}

std::string ElementText(const Tensor& buffer, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (buffer.dtype()) {
    case DType::kFloat32:
      return StrCat(buffer.elements<float>()[at]);
    case DType::kFloat64:
      return StrCat(buffer.elements<double>()[at]);
    case DType::kInt32:
      return StrCat(buffer.elements<int32_t>()[at]);
    default:
      return StrCat(buffer.elements<int64_t>()[at]);
  }
}

void HashOfRanks::Add(std::span<const std::byte> bytes) {
  digests_ += StrCat(core::StableHash(bytes), " ");
}

std::string HashOfRanks::text() const {
  return StrCat(core::StableHash(digests_));
}

namespace {

constexpr size_t kGuard = 64;
constexpr std::byte kUntouched{0xA5};

bool IsUntouched(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes,
                             [](std::byte each) { return each == kUntouched; });
}

}  // namespace

Guarded::Guarded(size_t bytes) : all_(bytes + 2 * kGuard, kUntouched) {}

std::span<std::byte> Guarded::bytes() {
  return std::span(all_).subspan(kGuard, all_.size() - 2 * kGuard);
}

bool Guarded::is_whole() const {
  const std::span<const std::byte> all = all_;
  return IsUntouched(all.first(kGuard)) && IsUntouched(all.last(kGuard));
}

}  // namespace assay::distributed
