// SPDX-License-Identifier: Apache-2.0
//
// NeighborCase: an exchange of blocks with neighbours, by the library itself.
//
//   for (const NeighborCase& each : AllNeighborCases()) Use(each.test_id());

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::distributed {

/// Those of ranks::Graph first, and then three that no scheme mixes by.
enum class Topology : uint8_t {
  kRing,         // the two beside
  kTorus,        // the four beside in a grid
  kExponential,  // to those 1, 2, 4 ... behind, from those before
  kOneWay,       // to the next one, from the one before
  kUneven,       // rank 0 has none; each other one sends to all behind it
  kMultiple,     // two edges to the next one, and one to itself between them
};

/// "ring", "one_way".
std::string_view ToString(Topology topology);

/// Whom a rank sends to and whom it receives from.
struct NeighborLists {
  std::vector<int> to, from;
};

NeighborLists ListsOf(Topology topology, int rank, int ranks);

struct NeighborCase {
  Topology topology = Topology::kRing;
  int ranks = 1;
  int64_t count = 0;  // elements of a block, of int64

  /// "distributed/neighbor_alltoall/own.ring.int64.61#n4".
  std::string test_id() const;
};

/// By topology, ranks and count.
std::vector<NeighborCase> AllNeighborCases();

}  // namespace assay::distributed
