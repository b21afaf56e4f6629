// SPDX-License-Identifier: Apache-2.0
//
// Runs a CollectiveCase on the ranks of a library: the contents of their
// buffers before it, the right ones after it, the comparison bit by bit, and
// the count of messages. The library's own collectives are judged by the same
// parts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/schedule.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// A buffer for each rank (ranks::ElementsOf). No two ranks have the same
/// contents, and no whole number is 0, so that a lost, doubled or misplaced
/// element shows. `first_rank` numbers the first rank of this set, where a case
/// has several.
Result<std::vector<Tensor>> ContentsOf(const CollectiveCase& test_case,
                                       int64_t seed, int first_rank = 0);

/// A rank's right buffer, in these parts; elsewhere it may have anything.
struct Wanted {
  Tensor buffer;
  std::vector<ranks::Part> judged;
};

/// The right buffers: whole numbers by the definition of the operation, which
/// knows no algorithm; drawn ones by the algorithm's tree, all ranks in one
/// thread (ranks::RunTogether).
Result<std::vector<Wanted>> WantedOf(const CollectiveCase& test_case, int root,
                                     const std::vector<Tensor>& before);

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

/// Adds a row for each root. The first root that fails is the judgement, which
/// names the rank, the first element that differs, and its right value.
measure::Judgement RunCase(const CollectiveCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed
