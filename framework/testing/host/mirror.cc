// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/mirror.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "framework/testing/host/wire/arena.h"

namespace assay::host {
namespace {

constexpr size_t kMirrorAlignment = 64;

bool HasMemory(const Tensor* tensor) {
  return tensor != nullptr && tensor->byte_size() > 0 &&
         tensor->data() != nullptr &&
         tensor->device().kind == Device::Kind::kCpu;
}

}  // namespace

Status Mirror::Add(std::initializer_list<std::span<const Value>> values) {
  for (const std::span<const Value> some : values) {
    for (const Value& value : some) {
      const Tensor* const tensor = value.tensor();
      if (!HasMemory(tensor)) continue;
      const std::byte* const data = tensor->data();
      const size_t size = tensor->bytes().size();
      if (Find(data, size).has_value()) continue;
      kept_.push_back(*tensor);
      auto region = regions_.try_emplace(data).first;
      region->second.size = std::max(region->second.size, size);
    }
  }
  // What overlaps becomes one.
  for (auto region = regions_.begin(); region != regions_.end(); ++region) {
    auto next = std::next(region);
    while (next != regions_.end() &&
           next->first < region->first + region->second.size) {
      const auto end =
          static_cast<size_t>(next->first - region->first) + next->second.size;
      region->second.size = std::max(region->second.size, end);
      next = regions_.erase(next);
    }
  }
  for (auto& [data, region] : regions_) {
    const size_t beside = reinterpret_cast<uintptr_t>(data) % kMirrorAlignment;
    region.block = wire::Arena::Allocate(region.size + beside);
    const auto place =
        wire::Arena::Find(region.block.get(), region.size + beside);
    if (region.block == nullptr || !place.has_value()) {
      return ResourceExhausted("cannot share ", region.size, " bytes");
    }
    region.copy = region.block.get() + beside;
    region.place = {place->segment, place->offset + beside};
  }
  return OkStatus();
}

std::optional<wire::Place> Mirror::Find(const std::byte* data,
                                        size_t size) const {
  if (auto place = wire::Arena::Find(data, size)) return place;
  auto region = regions_.upper_bound(data);
  if (region != regions_.begin()) {
    const auto& [start, found] = *std::prev(region);
    const auto offset = static_cast<size_t>(data - start);
    if (found.copy != nullptr && offset < found.size &&
        size <= found.size - offset) {
      return wire::Place{found.place.segment, found.place.offset + offset};
    }
  }
  return others_ == nullptr ? std::nullopt : others_->Find(data, size);
}

wire::Writer Mirror::Call() const {
  return wire::Writer([this](const Tensor& tensor) {
    return HasMemory(&tensor) ? Find(tensor.data(), tensor.bytes().size())
                              : std::nullopt;
  });
}

void Mirror::Push() const {
  for (const auto& [data, region] : regions_) {
    std::memcpy(region.copy, data, region.size);
  }
}

void Mirror::Pull() const {
  for (const auto& [data, region] : regions_) {
    if (std::memcmp(data, region.copy, region.size) == 0) continue;
    // The caller gave it as a Tensor, whose memory may be written.
    std::memcpy(const_cast<std::byte*>(data), region.copy, region.size);
  }
}

}  // namespace assay::host
