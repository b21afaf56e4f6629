// SPDX-License-Identifier: Apache-2.0
//
// CollectiveCase: one collective by one algorithm, with an element type and a
// number of ranks. It runs on the ranks of a library: the contents of their
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

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/schedule.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

enum class Numbers : uint8_t {
  kWhole,  // sums round in no order
  kDrawn,  // sums round by the order of the algorithm's tree
};

struct CollectiveCase {
  ranks::Collective what;  // but for its root: a case runs at several
  ranks::Reduction reduction = ranks::Reduction::kSum;
  DType type = DType::kFloat32;
  Numbers numbers = Numbers::kWhole;

  /// "distributed/allreduce/ring.float32.sum.1021#n8".
  std::string test_id() const;
  /// Scale for more ranks than a machine has room for as processes.
  cases::Tier tier() const;
  /// The roots that it runs at; {0} for an operation without a root.
  std::vector<int> roots() const;
};

/// The test_id with another word in place of the algorithm, and another number
/// of ranks.
std::string IdOf(const CollectiveCase& test_case, std::string_view way,
                 int ranks);

/// Powers of two, their neighbours, and a prime.
inline constexpr int kCollectiveRanks[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 61};
inline constexpr int64_t kCountOfEachType = 61;

/// A case for each type, reduction and kind of numbers that an operation is
/// tried with, by some ranks. The caller fills in the algorithm.
std::vector<CollectiveCase> CasesOfEachType(ranks::Operation operation);

bool Reduces(ranks::Operation operation);

/// The cases of the plan, by operation, algorithm and ranks.
std::vector<CollectiveCase> AllCollectiveCases();

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

/// ", at the root 3"; empty for an operation without a root.
std::string RootText(const ranks::Collective& what);

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
