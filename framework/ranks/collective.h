// SPDX-License-Identifier: Apache-2.0
//
// Collective: what ranks do together, by which algorithm, and what it costs.
//
//   const Collective what{.operation = Operation::kAllReduce,
//                         .algorithm = Algorithm::kRing,
//                         .ranks = 8,
//                         .count = 1021};
//   ASSAY_ASSIGN_OR_RETURN(const Cost cost, CostOf(what));

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::ranks {

using assay::Operation;
using assay::ToString;

/// R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
/// operations in MPICH", 2005, has all of them but the ring (P. Patarasuk, X. Yuan,
/// "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009) and
/// dissemination (D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
/// synchronization", 1988).
enum class Algorithm : uint8_t {
  kLinear,    // one rank with each other one
  kBinomial,  // a tree, whose root has log2 of the ranks below it
  kRing,      // each rank with the two beside it
  kRecursiveDoubling,
  kRabenseifner,   // recursive halving, and doubling back
  kDissemination,  // twice as far in each round
};

std::string_view ToString(Algorithm algorithm);

struct Collective {
  Operation operation = Operation::kAllReduce;
  Algorithm algorithm = Algorithm::kLinear;
  int ranks = 1;
  int64_t count = 0;  // elements
  int root = 0;       // of those that have one
};

/// As "allreduce/ring, 8 ranks, 1021 elements".
std::string ToString(const Collective& what);

/// Invalid argument for no ranks, a negative count, or a root that is no rank;
/// unsupported where the operation has no such algorithm here.
Status Check(const Collective& what);

/// The algorithms of an operation, in their order.
std::span<const Algorithm> AlgorithmsOf(Operation operation);
bool HasRoot(Operation operation);
/// Of the one buffer that each rank has, whose layout is
///
///   broadcast, reduce, all-reduce    count
///   gather, scatter, all-gather      ranks * count: a block of each rank, in their order
///   reduce-scatter                   ranks * count; the rank's own block is its result
///   all-to-all                       2 * ranks * count: the blocks that go to each
///                                    rank, and behind them those that came from each
///   barrier                          nothing
int64_t ElementsOf(const Collective& what);

/// What all ranks send together. A message to oneself is none.
struct Cost {
  int64_t elements = 0;
  int64_t messages = 0;

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// By formulas, which know no schedule. As Check declines.
Result<Cost> CostOf(const Collective& what);

}  // namespace assay::ranks
