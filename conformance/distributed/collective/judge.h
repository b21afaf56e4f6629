// SPDX-License-Identifier: Apache-2.0
//
// JudgeBits: whether ranks have what they should, bit by bit.
//
//   if (const auto fault = JudgeBits(got, wanted, RankName, &row)) return *fault;

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/tensor.h"
#include "framework/testing/measure/measure.h"

namespace assay::distributed {

/// What a message calls the owner of a buffer.
using NameOfBuffer = std::function<std::string(size_t)>;

/// "rank 3".
std::string RankName(size_t rank);

/// Adds what differs, and the hash, to the row. Null where nothing does; else the first
/// element that differs, with its owner and what it should be.
std::optional<measure::Judgement> JudgeBits(std::span<const Tensor> got,
                                            std::span<const Wanted> wanted,
                                            const NameOfBuffer& name,
                                            DistributedRow* row);

}  // namespace assay::distributed
