// SPDX-License-Identifier: Apache-2.0
//
// Mixing: the peers with which a rank averages its parameters, and their
// weights.
//
//   const std::vector<Peer> peers =
//       PeersOf(Graph::kRing, /*rank=*/0, /*ranks=*/8, /*step=*/0);

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::ranks {

/// Sources: X. Lian et al., "Can decentralized algorithms outperform
/// centralized algorithms?", 2017, for the ring; M. Assran et al., "Stochastic
/// gradient push for distributed deep learning", 2019, for the exponential
/// graphs.
enum class Graph : uint8_t {
  kRing,                // ranks at distance 1; one that is both counts once
  kComplete,            // all others
  kExponential,         // ranks at distance 1, 2, 4 ...
  kOnePeerExponential,  // one of those, the next in each step
  kTorus,               // the four at distance 1 in a periodic grid (RowsOf)
};

std::string_view ToString(Graph graph);

/// The rows of a torus' grid, which has the ranks row by row: the greatest
/// divisor of `ranks` <= sqrt(ranks). 1 for every other graph.
int RowsOf(Graph graph, int ranks);

/// One exchange: a rank sends its parameters to `to`, and gets those of `from`.
struct Peer {
  int to, from;
  double weight;  // of the parameters of `from`
};

/// The peers of a rank in a step; none for one rank. The rank's own parameters
/// have the weight 1 - the sum of the weights here. The mixing matrix is doubly
/// stochastic: weights that a rank gives and those that it takes sum up to 1.
std::vector<Peer> PeersOf(Graph graph, int rank, int ranks, int64_t step);

}  // namespace assay::ranks
