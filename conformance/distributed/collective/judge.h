// SPDX-License-Identifier: Apache-2.0
//
// What collectives are judged by, ours and the library's own.
//
//   if (const auto fault = JudgeBits(got, wanted, RankName, &row)) return *fault;

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/testing/measure/measure.h"

namespace assay::distributed {

/// A row of the case as it is before it runs; `way` is the algorithm, or how the library's
/// own is called.
DistributedRow RowOf(const CollectiveCase& test_case,
                     const ranks::Collective& what, const RunOf& run,
                     std::string_view way);

/// A pass, or the fault with the root that it was found at.
measure::Judgement AtRoot(std::optional<measure::Judgement> fault,
                          const ranks::Collective& what);

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
