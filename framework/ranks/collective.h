// SPDX-License-Identifier: Apache-2.0
//
// Collective: an operation of several ranks, the algorithm that carries it out,
// and what it costs in elements and messages.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::ranks {

using assay::Operation;
using assay::Reduction;
using assay::ToString;

/// Sources: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
/// communication operations in MPICH", 2005; for the ring P. Patarasuk, X.
/// Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", 2009; for dissemination D. Hensgen, R. Finkel, U. Manber,
/// "Two algorithms for barrier synchronization", 1988.
enum class Algorithm : uint8_t {
  kLinear,    // one rank exchanges with each of the others
  kBinomial,  // a tree whose root has log2(ranks) children
  kRing,      // each rank exchanges with the ranks before and after it
  kRecursiveDoubling,
  kRabenseifner,   // recursive halving, then doubling
  kDissemination,  // in round k with the rank 2^k away
};

std::string_view ToString(Algorithm algorithm);

struct Collective {
  Operation operation = Operation::kAllReduce;
  Algorithm algorithm = Algorithm::kLinear;
  int ranks = 1;
  int64_t count = 0;  // elements of a block
  int root = 0;       // of operations that have one
};

/// "allreduce/ring, 8 ranks, 1021 elements".
std::string ToString(const Collective& what);

/// Invalid argument for fewer than 1 rank, a negative count, or a root that is
/// no rank; unsupported where the operation has no such algorithm here.
Status Check(const Collective& what);

inline constexpr Operation kOperations[] = {
    Operation::kBarrier,   Operation::kBroadcast,     Operation::kReduce,
    Operation::kAllReduce, Operation::kGather,        Operation::kScatter,
    Operation::kAllGather, Operation::kReduceScatter, Operation::kAllToAll};

/// The algorithms that implement an operation, in a fixed order.
std::span<const Algorithm> AlgorithmsOf(Operation operation);
bool HasRoot(Operation operation);
/// True where the reduction is one of two elements of the type.
bool IsDefined(Reduction reduction, DType type);
/// The elements of a rank's one buffer, whose layout is
///
///   broadcast, reduce, all-reduce    count
///   gather, scatter, all-gather      ranks * count: blocks by rank
///   reduce-scatter                   ranks * count; the result is the rank's
///                                    own block
///   all-to-all                       2 * ranks * count: the blocks to each
///                                    rank, then the blocks from each
///   barrier                          nothing
int64_t ElementsOf(const Collective& what);

/// The traffic of all ranks in sum. A message of a rank to itself does not
/// count.
struct Cost {
  int64_t elements = 0;
  int64_t messages = 0;

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// By closed formulas, which know no schedule. Errors as of Check.
Result<Cost> CostOf(const Collective& what);

}  // namespace assay::ranks
