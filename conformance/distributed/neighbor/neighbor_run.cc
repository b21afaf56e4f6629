// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/neighbor/neighbor_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/collective/judge.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/guarded.h"
#include "conformance/distributed/ranks/sent.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/ranks/fields.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

// By the same neighbours: what an exchange leaves behind shows in the next one.
constexpr int kRounds = 2;
constexpr char kName[] = "neighbor_alltoall";

/// The place of a block in what is sent.
struct Block {
  int round, rank;
  size_t place;
};

/// Its elements, which no other block has, and none of which is 0.
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

/// The place of the rank in a list that has it more than `before` times.
size_t PlaceOf(int rank, size_t before, const std::vector<int>& list) {
  size_t place = 0;
  while (list[place] != rank || before-- > 0) ++place;
  return place;
}

/// What it should receive in all rounds.
std::vector<int64_t> WantedBy(const NeighborCase& test_case, int rank) {
  const auto [topology, ranks, count] = test_case;
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

/// What it should send in all rounds.
Traffic TrafficOf(const NeighborCase& test_case, int rank) {
  const std::vector<int> to =
      ListsOf(test_case.topology, rank, test_case.ranks).to;
  const int64_t messages =
      kRounds * (std::ssize(to) - std::ranges::count(to, rank));
  return {messages * test_case.count * static_cast<int64_t>(sizeof(int64_t)),
          messages};
}

/// A rank's part: what its library counts, and what it received, as bytes.
Result<std::string> Part(const NeighborCase& test_case, Endpoint& mine) {
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
    ASSAY_RETURN_IF_ERROR(
        neighbors->Exchange(std::as_bytes(std::span(out)), in.bytes()));
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

/// Null where each rank sent what it should, or its library does not say.
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
  row.collective = StrCat(kName, "/own");
  row.transport = run.transport;
  row.ranks = test_case.ranks;
  row.topology = ToString(test_case.topology);
  row.mode = "exact";
  row.seed = run.seed;
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(
          run.ranks, test_case.ranks,
          [&](Endpoint& mine) { return Part(test_case, mine); }, run.scratch));
  if (!ran.judges) return Passes();
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(fault, Judge(test_case, ran.found, &row));
  }
  record->Add(row);
  return fault.value_or(Passes());
}

}  // namespace

Judgement RunCase(const NeighborCase& test_case, const RunOf& run,
                  record::Record* record) {
  constexpr int kNoRoot[] = {0};
  return RunRoots(kNoRoot, record,
                  [&](int) { return Run(test_case, run, record); });
}

}  // namespace assay::distributed
