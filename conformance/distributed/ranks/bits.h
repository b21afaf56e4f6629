// SPDX-License-Identifier: Apache-2.0
//
// What is compared of all ranks, whatever they ran.
//
//   HashOfRanks hash;
//   for (const Tensor& each : found) hash.Add(each.bytes());
//   row.hash = hash.text();

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "framework/core/tensor.h"
#include "framework/ranks/schedule.h"

namespace assay::distributed {

/// Of as many bytes.
int64_t DifferingBits(std::span<const std::byte> got,
                      std::span<const std::byte> wanted);

/// The bytes of a part; of types of whole bytes.
std::span<const std::byte> PartOf(const Tensor& buffer, ranks::Part part);

/// The digits of a float32, float64, int32 or int64.
std::string ElementText(const Tensor& buffer, int64_t i);

/// One hash of what the ranks have, in their order.
class HashOfRanks {
 public:
  void Add(std::span<const std::byte> bytes);
  std::string text() const;

 private:
  std::string digests_;
};

}  // namespace assay::distributed
