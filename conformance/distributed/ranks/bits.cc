// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/bits.h"

#include <algorithm>
#include <bit>

#include "framework/core/hash.h"
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

}  // namespace assay::distributed
