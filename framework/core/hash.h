// SPDX-License-Identifier: Apache-2.0
//
// StableHash: FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv),
// the same on every machine. It finds torn and foreign bytes and spreads names;
// it is no protection against intent.
//
//   const uint64_t shard = StableHash(test_id) % n_shards;

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace assay::core {

inline uint64_t StableHash(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
}

inline uint64_t StableHash(std::string_view text) {
  return StableHash(std::as_bytes(std::span(text)));
}

}  // namespace assay::core
