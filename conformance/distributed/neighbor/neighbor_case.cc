// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/neighbor/neighbor_case.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/scheme/scheme.h"

namespace assay::distributed {
namespace {

constexpr std::array<std::string_view, 6> kTopologyNames = {
    "ring", "torus", "exponential", "one_way", "uneven", "multiple"};
constexpr Topology kTopologies[] = {
    Topology::kRing,   Topology::kTorus,  Topology::kExponential,
    Topology::kOneWay, Topology::kUneven, Topology::kMultiple};
constexpr int kNeighborRanks[] = {1, 2, 3, 4, 8};
constexpr int64_t kPrime = 61;
constexpr int64_t kFew[] = {0, 1};
constexpr int kOfFew[] = {2, 4};
// A torus of fewer ranks is a ring.
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

using measure::Judgement;

// Twice on one topology: state that an exchange leaves behind shows in the
// next.
constexpr int kRounds = 2;
constexpr char kName[] = "neighbor_alltoall";

/// The place of a block among all that are sent.
struct Block {
  int round, rank;
  size_t place;
};

/// Appends the elements of a block. No other block has any of them, and none is
/// 0.
void AppendBlock(const Block& block, int64_t count,
                 std::vector<int64_t>* elements) {
  constexpr int64_t kMostPlaces = 10, kMostRanks = 1000, kMostCount = 1000;
  const int64_t number = (block.round * kMostRanks + block.rank) * kMostPlaces +
                         static_cast<int64_t>(block.place);
  for (int64_t i = 0; i < count; ++i) {
    elements->push_back(number * kMostCount + i + 1);
  }
}

std::vector<int64_t> SentBy(const NeighborCase& test_case, int rank,
                            int round) {
  const size_t blocks =
      ListsOf(test_case.topology, rank, test_case.ranks).to.size();
  std::vector<int64_t> elements;
  for (size_t place = 0; place < blocks; ++place) {
    AppendBlock({round, rank, place}, test_case.count, &elements);
  }
  return elements;
}

/// The index of the occurrence of `rank` after `before` others in a list.
size_t PlaceOf(int rank, size_t before, const std::vector<int>& list) {
  size_t place = 0;
  while (list[place] != rank || before-- > 0) ++place;
  return place;
}

std::vector<int64_t> WantedBy(const NeighborCase& test_case, int rank) {
  const auto [topology, ranks, count, starts] = test_case;
  std::vector<int64_t> elements;
  for (int round = 0; round < kRounds; ++round) {
    std::map<int, size_t> seen;  // blocks of each rank
    for (const int from : ListsOf(topology, rank, ranks).from) {
      const size_t place =
          PlaceOf(rank, seen[from]++, ListsOf(topology, from, ranks).to);
      AppendBlock({round, from, place}, count, &elements);
    }
  }
  return elements;
}

Traffic TrafficOf(const NeighborCase& test_case, int rank) {
  const std::vector<int> to =
      ListsOf(test_case.topology, rank, test_case.ranks).to;
  const int64_t messages =
      kRounds * (std::ssize(to) - std::ranges::count(to, rank));
  return {messages * test_case.count * static_cast<int64_t>(sizeof(int64_t)),
          messages};
}

Status Exchange(const NeighborCase& test_case, std::span<const std::byte> out,
                std::span<std::byte> in, Neighbors& neighbors) {
  if (!test_case.starts) return neighbors.Exchange(out, in);
  ASSAY_ASSIGN_OR_RETURN(const auto pending, neighbors.Start(out, in));
  return pending->Wait();
}

/// Runs a rank's part, and returns its library's count and the received blocks
/// as bytes.
Result<std::string> RunPart(const NeighborCase& test_case, Endpoint& mine) {
  const NeighborLists lists =
      ListsOf(test_case.topology, mine.rank(), mine.size());
  ASSAY_ASSIGN_OR_RETURN(const auto neighbors,
                         mine.Connect(lists.to, lists.from));
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount count, CountOf(mine));
  std::string received;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<int64_t> out = SentBy(test_case, mine.rank(), round);
    Guarded in(lists.from.size() * static_cast<size_t>(test_case.count) *
               sizeof(int64_t));
    ASSAY_RETURN_IF_ERROR(Exchange(test_case, std::as_bytes(std::span(out)),
                                   in.bytes(), *neighbors));
    if (out != SentBy(test_case, mine.rank(), round)) {
      return DataLoss(kName, " changed its input");
    }
    if (!in.is_whole()) return DataLoss(kName, " wrote beside its output");
    AppendBytes(std::span<const std::byte>(in.bytes()), &received);
  }
  ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                         SentSince(count, mine, /*asked=*/{}));
  std::string text;
  ranks::AppendFields(sent, &text);
  return text + received;
}

/// Null where each rank sent the right messages, or its library does not count.
std::optional<Judgement> JudgeSent(const NeighborCase& test_case,
                                   std::span<const RankSent> ranks,
                                   DistributedRow* row) {
  AddCounted(ranks, row);
  if (!row->messages.has_value()) return std::nullopt;
  std::optional<Judgement> first;
  Traffic all;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const Traffic wanted = TrafficOf(test_case, static_cast<int>(rank));
    all.bytes += wanted.bytes;
    all.messages += wanted.messages;
    const Traffic& found = ranks[rank].counted.sent;
    if (found == wanted || first.has_value()) continue;
    first =
        Fails(kFailCost, StrCat(RankName(rank), ": found ", found.bytes,
                                " bytes in ", found.messages,
                                " messages by the library's own count, wanted ",
                                wanted.bytes, " in ", wanted.messages));
  }
  row->bytes_formula = all.bytes;
  row->messages_formula = all.messages;
  return first;
}

Result<std::optional<Judgement>> Judge(const NeighborCase& test_case,
                                       const std::vector<std::string>& found,
                                       DistributedRow* row) {
  std::vector<RankSent> sent(found.size());
  std::vector<Tensor> got;
  std::vector<Wanted> wanted;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    const std::vector<int64_t> right =
        WantedBy(test_case, static_cast<int>(rank));
    std::vector<int64_t> came(right.size());
    std::string_view text = found[rank];
    if (!ranks::CutFields(&text, &sent[rank]) ||
        !CutBytes(&text, std::span(came)) || !text.empty()) {
      return DataLoss("rank ", rank, " brought ", found[rank].size(),
                      " bytes of its blocks");
    }
    const int64_t elements = std::ssize(right);
    ASSAY_ASSIGN_OR_RETURN(got.emplace_back(),
                           Tensor::Of<int64_t>({elements}, came));
    Wanted& of_rank = wanted.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(of_rank.buffer,
                           Tensor::Of<int64_t>({elements}, right));
    of_rank.judged = {{0, elements}};
  }
  std::optional<Judgement> fault = JudgeBits(got, wanted, RankName, row);
  const std::optional<Judgement> spent = JudgeSent(test_case, sent, row);
  return fault.has_value() ? fault : spent;
}

Result<Judgement> Run(const NeighborCase& test_case, const RunOf& run,
                      record::Record* record) {
  DistributedRow row;
  row.collective = StrCat(kName, "/", test_case.way());
  row.transport = run.transport;
  row.ranks = test_case.ranks;
  row.topology = ToString(test_case.topology);
  row.mode = "exact";
  row.seed = run.seed;
  return RunAndJudge(
      run, row, [&](Endpoint& mine) { return RunPart(test_case, mine); },
      [&](const auto& found, DistributedRow* judged) {
        return Judge(test_case, found, judged);
      },
      record);
}

}  // namespace

std::string_view ToString(Topology topology) {
  return kTopologyNames[static_cast<size_t>(topology)];
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
  return StrCat("distributed/neighbor_alltoall/", way(), ".",
                ToString(topology), ".int64.", count, "#n", ranks);
}

std::vector<NeighborCase> AllNeighborCases() {
  std::vector<NeighborCase> all;
  for (const Topology topology : kTopologies) {
    const auto add = [&](int ranks, int64_t count, bool starts) {
      if (topology == Topology::kTorus && ranks < kFewestOfTorus) return;
      all.push_back({topology, ranks, count, starts});
    };
    for (const bool starts : {false, true}) {
      for (const int ranks : kNeighborRanks) add(ranks, kPrime, starts);
      for (const int ranks : kOfFew) {
        for (const int64_t count : kFew) add(ranks, count, starts);
      }
    }
  }
  return all;
}

Judgement RunCase(const NeighborCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(kNoRoot, record,
                  [&](int) { return Run(test_case, run, record); });
}

}  // namespace assay::distributed
