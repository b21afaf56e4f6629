// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/guarded.h"

#include <algorithm>

namespace assay::distributed {
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
