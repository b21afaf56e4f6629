// SPDX-License-Identifier: Apache-2.0
//
// Numbers that are the same on every machine: pseudo-random ones of a key, and
// a hash. The engine's numbers are the standard's; its distributions are each
// library's own, so that there are others here.

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

namespace assay::core {

/// The key of a part of what a seed gives: neighbours have nothing in common
/// (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
/// generators", 2014, the finalizer of SplitMix64).
inline uint64_t KeyOf(uint64_t seed, int64_t part) {
  uint64_t key = seed + 0x9e3779b97f4a7c15U * (static_cast<uint64_t>(part) + 1);
  key = (key ^ (key >> 30U)) * 0xbf58476d1ce4e5b9U;
  key = (key ^ (key >> 27U)) * 0x94d049bb133111ebU;
  return key ^ (key >> 31U);
}

class Numbers {
 public:
  explicit Numbers(uint64_t key) : engine_(key) {}

  /// In [0, bound), each as likely: what would favour the first is drawn again.
  uint64_t Below(uint64_t bound) {
    const uint64_t fair = engine_.max() - engine_.max() % bound;
    uint64_t drawn = engine_();
    while (drawn >= fair) drawn = engine_();
    return drawn % bound;
  }

  /// In [0, 1), of 53 bits.
  double Share() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

/// FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv). It finds torn
/// and foreign bytes and spreads names; it is no protection against intent.
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
