// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/scheme/mixing.h"

#include <array>
#include <bit>

namespace assay::dist {
namespace {

constexpr std::array kNames = {"ring", "complete", "exponential",
                               "one_peer_exponential"};

}  // namespace

std::string_view ToString(Graph graph) {
  return kNames[static_cast<size_t>(graph)];
}

std::vector<Peer> PeersOf(Graph graph, int rank, int ranks, int64_t step) {
  std::vector<int> hops;
  const int doublings = std::bit_width(static_cast<unsigned>(ranks - 1));
  switch (graph) {
    case Graph::kRing:
      if (ranks > 1) hops.push_back(1);
      if (ranks > 2) hops.push_back(ranks - 1);
      break;
    case Graph::kComplete:
      for (int hop = 1; hop < ranks; ++hop) hops.push_back(hop);
      break;
    case Graph::kExponential:
      for (int hop = 1; hop < ranks; hop *= 2) hops.push_back(hop);
      break;
    case Graph::kOnePeerExponential:
      if (ranks > 1) hops.push_back(1 << (step % doublings));
      break;
  }
  std::vector<Peer> peers;
  for (const int hop : hops) {
    peers.push_back({(rank + hop) % ranks, (rank - hop + ranks) % ranks,
                     1 / static_cast<double>(hops.size() + 1)});
  }
  return peers;
}

}  // namespace assay::dist
