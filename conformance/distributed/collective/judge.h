// SPDX-License-Identifier: Apache-2.0
//
// Judges the results of collectives, ours and the library's own.
//
//   if (const auto fault = JudgeBits(got, wanted, RankName, &row)) {
//     return *fault;
//   }

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

/// The row of a case before it runs; `way` is the algorithm, or the way in
/// which the library's own collective is called.
DistributedRow RowOf(const CollectiveCase& test_case,
                     const ranks::Collective& what, const RunOf& run,
                     std::string_view way);

/// A pass, or the fault with its root.
measure::Judgement AtRoot(std::optional<measure::Judgement> fault,
                          const ranks::Collective& what);

/// Names the owner of a buffer in a message.
using NameOfBuffer = std::function<std::string(size_t)>;

/// "rank 3".
std::string RankName(size_t rank);

/// Compares the judged parts bit by bit, and adds the number of differing bits
/// and the hash to the row. Null where none differs; else a fail with the first
/// element that does, its owner and its right value.
std::optional<measure::Judgement> JudgeBits(std::span<const Tensor> got,
                                            std::span<const Wanted> wanted,
                                            const NameOfBuffer& name,
                                            DistributedRow* row);

}  // namespace assay::distributed
