// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/neighbor/neighbor_case.h"

#include <array>
#include <cstddef>

#include "framework/core/text.h"
#include "framework/ranks/scheme/mixing.h"

namespace assay::distributed {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "ring", "torus", "exponential", "one_way", "uneven", "multiple"};
constexpr Topology kTopologies[] = {
    Topology::kRing,   Topology::kTorus,  Topology::kExponential,
    Topology::kOneWay, Topology::kUneven, Topology::kMultiple};
constexpr int kNeighborRanks[] = {1, 2, 3, 4, 8};
constexpr int64_t kPrime = 61;
constexpr int64_t kFew[] = {0, 1};
constexpr int kOfFew[] = {2, 4};
// A torus of fewer is a ring.
constexpr int kFewestOfTorus = 4;

NeighborLists ListsOf(ranks::Graph graph, int rank, int ranks) {
  NeighborLists lists;
  for (const ranks::Peer& peer : ranks::PeersOf(graph, rank, ranks, 0)) {
    lists.to.push_back(peer.to);
    lists.from.push_back(peer.from);
  }
  return lists;
}

NeighborLists UnevenLists(int rank, int ranks) {
  NeighborLists lists;
  if (rank == 0) return lists;
  for (int other = rank + 1; other < ranks; ++other) lists.to.push_back(other);
  for (int other = rank - 1; other > 0; --other) lists.from.push_back(other);
  return lists;
}

}  // namespace

std::string_view ToString(Topology topology) {
  return kNames[static_cast<size_t>(topology)];
}

NeighborLists ListsOf(Topology topology, int rank, int ranks) {
  const int next = (rank + 1) % ranks;
  const int last = (rank + ranks - 1) % ranks;
  switch (topology) {
    case Topology::kRing:
      return ListsOf(ranks::Graph::kRing, rank, ranks);
    case Topology::kTorus:
      return ListsOf(ranks::Graph::kTorus, rank, ranks);
    case Topology::kExponential:
      return ListsOf(ranks::Graph::kExponential, rank, ranks);
    case Topology::kOneWay:
      return {{next}, {last}};
    case Topology::kUneven:
      return UnevenLists(rank, ranks);
    case Topology::kMultiple:
      break;
  }
  return {{next, rank, next}, {last, last, rank}};
}

std::string NeighborCase::test_id() const {
  return StrCat("distributed/neighbor_alltoall/own.", ToString(topology),
                ".int64.", count, "#n", ranks);
}

std::vector<NeighborCase> AllNeighborCases() {
  std::vector<NeighborCase> all;
  for (const Topology topology : kTopologies) {
    const auto add = [&](int ranks, int64_t count) {
      if (topology == Topology::kTorus && ranks < kFewestOfTorus) return;
      all.push_back({topology, ranks, count});
    };
    for (const int ranks : kNeighborRanks) add(ranks, kPrime);
    for (const int ranks : kOfFew) {
      for (const int64_t count : kFew) add(ranks, count);
    }
  }
  return all;
}

}  // namespace assay::distributed
