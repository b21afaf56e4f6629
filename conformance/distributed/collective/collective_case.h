// SPDX-License-Identifier: Apache-2.0
//
// CollectiveCase: one collective by one algorithm, with an element type and a
// number of ranks.

#pragma once

#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/testing/case/test_case.h"

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

/// All operations, in the order of the cases.
inline constexpr ranks::Operation kOperations[] = {
    ranks::Operation::kBarrier,   ranks::Operation::kBroadcast,
    ranks::Operation::kReduce,    ranks::Operation::kAllReduce,
    ranks::Operation::kGather,    ranks::Operation::kScatter,
    ranks::Operation::kAllGather, ranks::Operation::kReduceScatter,
    ranks::Operation::kAllToAll};
/// Powers of two, their neighbours, and a prime.
inline constexpr int kCollectiveRanks[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 61};
/// Elements of the cases of each type.
inline constexpr int64_t kCountOfEachType = 61;

/// A case for each type, reduction and kind of numbers that an operation is
/// tried with, by some ranks. The caller fills in the algorithm.
std::vector<CollectiveCase> CasesOfEachType(ranks::Operation operation);

/// True where the operation combines numbers.
bool Reduces(ranks::Operation operation);

/// The cases of the plan, by operation, algorithm and ranks.
std::vector<CollectiveCase> AllCollectiveCases();

}  // namespace assay::distributed
