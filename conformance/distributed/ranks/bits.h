// SPDX-License-Identifier: Apache-2.0
//
// Compares and hashes the bits of all ranks, and guards memory that a library
// writes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/ranks/schedule.h"

namespace assay::distributed {

/// The number of bits that differ. Both have the same number of bytes.
int64_t DifferingBits(std::span<const std::byte> got,
                      std::span<const std::byte> wanted);

/// The bytes of a part of a buffer, whose type has whole bytes.
std::span<const std::byte> PartOf(const Tensor& buffer, ranks::Part part);

/// An element of a float32, float64, int32 or int64 as text.
std::string ElementText(const Tensor& buffer, int64_t i);

/// One hash of the bytes of all ranks, in their order.
class HashOfRanks {
 public:
  void Add(std::span<const std::byte> bytes);
  std::string text() const;

 private:
  std::string digests_;
};

/// Memory for a library's output between two guards, which nobody may write
/// into.
class Guarded {
 public:
  explicit Guarded(size_t bytes);

  std::span<std::byte> bytes();
  /// True while nobody has written into the guards.
  bool is_whole() const;

 private:
  std::vector<std::byte> all_;
};

}  // namespace assay::distributed
