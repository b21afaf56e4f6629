// SPDX-License-Identifier: Apache-2.0
//
// OwnCase: one of the library's own collectives, in one of the ways of calling
// it, and a rank's part in it. RunCase runs it, and compares the results bit by
// bit, or with their bound where they round.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/backend/communicator.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

enum class Way : uint8_t {
  kOwn,             // blocking, input and output apart
  kInPlace,         // blocking, in place
  kStarted,         // nonblocking
  kStartedInPlace,  // nonblocking, in place
  kTwo,             // two nonblocking, waited for in different orders
  kSplit,           // on two halves of the ranks, in the opposite order
  kSplitTies,       // the same, where two neighbours have one key
  kSplitNone,       // on one half of the ranks; the others want no color
};

inline constexpr std::array kWays = {
    Way::kOwn, Way::kInPlace, Way::kStarted,   Way::kStartedInPlace,
    Way::kTwo, Way::kSplit,   Way::kSplitTies, Way::kSplitNone};

/// True where the collective is one of parts of the ranks.
inline bool Splits(Way way) { return way >= Way::kSplit; }

/// "own", "own_in_place".
std::string_view ToString(Way way);

struct OwnCase {
  CollectiveCase of;  // its algorithm is ignored
  Way way = Way::kOwn;
  cases::Tier tier = cases::Tier::kCi;

  /// The ranks that take part: twice those of the collective where it is one of
  /// parts.
  int ranks() const;
  /// The number of collectives in it, each with contents of its own.
  int sets() const;
  /// "distributed/allreduce/own.float32.sum.1021#n8".
  std::string test_id() const;
};

/// The buffers of all ranks of one collective, and those of all collectives of
/// a case.
using OwnSet = std::vector<Tensor>;
using OwnSets = std::vector<OwnSet>;

/// One collective of a rank, on a buffer of its own.
struct OwnTask {
  ranks::Collective what;
  int set = 0;
  int rank = 0;  // in the collective
  Tensor buffer;
};

/// The tasks of a rank: one for each collective that it takes part in. A sum
/// that rounds has three more: the same again, with half the elements, and with
/// the contents of the next rank.
Result<std::vector<OwnTask>> TasksOf(const OwnCase& test_case,
                                     const ranks::Collective& what, int rank,
                                     const OwnSets& sets);

/// Runs all tasks. Data loss where the library writes beside its output, or
/// into an input that is not in place.
Status RunTasks(const OwnCase& test_case, Endpoint& mine,
                std::vector<OwnTask>& tasks);

/// Null where each element is within the bound of any order of n - 1 additions,
///
///   |found - sum| <= (n - 1) u / (1 - (n - 1) u) * sum of magnitudes
///
/// (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
/// 2002, section 4.2), and, for an all-reduce, all ranks have the same bits.
/// Adds the greatest distance in ULP, and for an all-reduce the agreement, to
/// the row.
std::optional<measure::Judgement> JudgeNear(const ranks::Collective& what,
                                            const OwnSet& before,
                                            std::span<const Tensor> got,
                                            DistributedRow* row);

/// The variations on which the bits of a sum do not depend, joined by "+":
/// "run" (a second run), "sizes" (half as many elements), "order" (each rank
/// has the contents of the next one). "none" where they depend on all. `ran`
/// has the tasks of each rank (TasksOf).
std::string DeterminismOf(const std::vector<std::vector<OwnTask>>& ran);

/// Adds a row for each root. Unsupported for a library without the collective.
measure::Judgement RunCase(const OwnCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed
