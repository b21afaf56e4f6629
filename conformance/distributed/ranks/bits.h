// SPDX-License-Identifier: Apache-2.0
//
// What is compared and counted of all ranks, whatever they ran.
//
//   HashOfRanks hash;
//   for (const Tensor& each : found) hash.Add(each.bytes());
//   row.hash = hash.text();

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/tensor.h"
#include "framework/dist/schedule.h"
#include "framework/dist/watch.h"
#include "framework/testing/measure/measure.h"

namespace assay::distributed {

/// Of as many bytes.
int64_t DifferingBits(std::span<const std::byte> got,
                      std::span<const std::byte> wanted);

/// The bytes of a part; of types of whole bytes.
std::span<const std::byte> PartOf(const Tensor& buffer, dist::Part part);

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

/// Adds what was sent to the row. Null where it is what the formulas say; messages are not
/// judged where none tells them.
std::optional<measure::Judgement> JudgeTraffic(
    const dist::Traffic& sent, int64_t bytes,
    const std::optional<int64_t>& messages, DistributedRow* row);

}  // namespace assay::distributed
