// SPDX-License-Identifier: Apache-2.0
//
// NeighborCase: a neighbour collective of the library: each rank sends a block
// to each of its neighbours (MPI_Neighbor_alltoall). RunCase runs it, and
// compares the blocks bit by bit.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Graphs of ranks. The last three are none of ranks::Graph.
enum class Topology : uint8_t {
  kRing,         // both ranks at distance 1
  kTorus,        // the four at distance 1 in a grid
  kExponential,  // to distance 1, 2, 4 ..., from distance -1, -2, -4 ...
  kOneWay,       // to the next rank, from the one before
  kUneven,       // rank 0 has none; each other sends to all higher ranks
  kMultiple,     // two edges to the next rank, one to itself between them
};

/// "ring", "one_way".
std::string_view ToString(Topology topology);

struct NeighborLists {
  std::vector<int> to, from;
};

NeighborLists ListsOf(Topology topology, int rank, int ranks);

struct NeighborCase {
  Topology topology = Topology::kRing;
  int ranks = 1;
  int64_t count = 0;    // elements of a block, of int64
  bool starts = false;  // nonblocking

  /// "own", "own_started": as of the collectives of all ranks.
  std::string_view way() const { return starts ? "own_started" : "own"; }
  /// "distributed/neighbor_alltoall/own.ring.int64.61#n4".
  std::string test_id() const;
};

/// The cases of the plan, by topology, ranks and count.
std::vector<NeighborCase> AllNeighborCases();

/// Adds a row. Unsupported for a library without neighbour collectives. Where
/// the libraries of all ranks count their messages, each has to count one for
/// each edge to another rank, as long as its block.
measure::Judgement RunCase(const NeighborCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed
