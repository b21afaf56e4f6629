// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/mixing.h"

#include <array>
#include <bit>

namespace assay::ranks {
namespace {

constexpr std::array kNames = {"ring", "complete", "exponential",
                               "one_peer_exponential", "torus"};

/// The distance of a peer in the grid of ranks.
struct Hop {
  int rows = 0, columns = 0;
};

/// Adds both neighbours along one axis of the grid; one that is on both sides
/// counts once.
void AddBeside(int extent, Hop next, std::vector<Hop>* hops) {
  if (extent > 1) hops->push_back(next);
  if (extent > 2) {
    hops->push_back({next.rows * (extent - 1), next.columns * (extent - 1)});
  }
}

std::vector<Hop> HopsOf(Graph graph, int rows, int columns, int64_t step) {
  constexpr Hop kNextRow = {.rows = 1}, kNextColumn = {.columns = 1};
  const int doublings = std::bit_width(static_cast<unsigned>(columns - 1));
  std::vector<Hop> hops;
  switch (graph) {
    case Graph::kRing:
    case Graph::kTorus:
      AddBeside(rows, kNextRow, &hops);
      AddBeside(columns, kNextColumn, &hops);
      break;
    case Graph::kComplete:
      for (int hop = 1; hop < columns; ++hop) hops.push_back({0, hop});
      break;
    case Graph::kExponential:
      for (int hop = 1; hop < columns; hop *= 2) hops.push_back({0, hop});
      break;
    case Graph::kOnePeerExponential:
      if (columns > 1) hops.push_back({0, 1 << (step % doublings)});
      break;
  }
  return hops;
}

}  // namespace

std::string_view ToString(Graph graph) {
  return kNames[static_cast<size_t>(graph)];
}

int RowsOf(Graph graph, int ranks) {
  int rows = 1;
  if (graph != Graph::kTorus) return rows;
  for (int each = 2; each * each <= ranks; ++each) {
    if (ranks % each == 0) rows = each;
  }
  return rows;
}

std::vector<Peer> PeersOf(Graph graph, int rank, int ranks, int64_t step) {
  const int rows = RowsOf(graph, ranks);
  const int columns = ranks / rows;
  const std::vector<Hop> hops = HopsOf(graph, rows, columns, step);
  const auto at = [&](int row, int column) {
    return (rank / columns + row + rows) % rows * columns +
           (rank % columns + column + columns) % columns;
  };
  std::vector<Peer> peers;
  for (const Hop& hop : hops) {
    peers.push_back({at(hop.rows, hop.columns), at(-hop.rows, -hop.columns),
                     1 / static_cast<double>(hops.size() + 1)});
  }
  return peers;
}

}  // namespace assay::ranks
