// SPDX-License-Identifier: Apache-2.0
//
// Mixing: with whom a rank averages its parameters, and how much each of them counts.
//
//   const std::vector<Peer> peers =
//       PeersOf(Graph::kRing, /*rank=*/0, /*ranks=*/8, /*step=*/0);

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::ranks {

/// X. Lian et al., "Can decentralized algorithms outperform centralized algorithms?",
/// 2017, has the ring; M. Assran et al., "Stochastic gradient push for distributed deep
/// learning", 2019, the exponential graphs.
enum class Graph : uint8_t {
  kRing,                // the two beside; a rank that is both counts once
  kComplete,            // everybody
  kExponential,         // those 1, 2, 4 ... behind
  kOnePeerExponential,  // one of those, another in each step
  kTorus,               // the four beside in a grid (RowsOf) whose edges meet
};

std::string_view ToString(Graph graph);

/// Of the grid that a torus lays the ranks out in, row by row: the greatest number below
/// the root of the ranks that divides them. 1 for every other graph.
int RowsOf(Graph graph, int ranks);

/// In one exchange: whom a rank sends its parameters to, and whose it gets.
struct Peer {
  int to, from;
  double weight;  // of those that it gets
};

/// A rank's own parameters have the weight that is left of 1. Over all ranks both the
/// weights that a rank gives and those that it takes sum up to 1. None for one rank.
std::vector<Peer> PeersOf(Graph graph, int rank, int ranks, int64_t step);

}  // namespace assay::ranks
