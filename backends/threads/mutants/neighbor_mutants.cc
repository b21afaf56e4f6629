// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "backends/threads/mutants/mutant.h"

namespace assay::threads {
namespace {

using Connected = Result<std::unique_ptr<Neighbors>>;
using Members = std::span<const int>;
using Bytes = std::span<std::byte>;

/// `change` has the blocks of the list as they are right.
template <auto change>
class Changed final : public Neighbors {
 public:
  Changed(std::unique_ptr<Neighbors> right, Members from)
      : right_(std::move(right)), from_(from.begin(), from.end()) {}
  Status Exchange(std::span<const std::byte> out, Bytes in) override {
    ASSAY_RETURN_IF_ERROR(right_->Exchange(out, in));
    if (!in.empty()) change(from_, in);
    return OkStatus();
  }

 private:
  const std::unique_ptr<Neighbors> right_;
  const std::vector<int> from_;
};

template <auto change>
Connected WithBlocks(Rank& rank, Members to, Members from) {
  ASSAY_ASSIGN_OR_RETURN(auto right, rank.right.Connect(to, from));
  return std::unique_ptr<Neighbors>(
      std::make_unique<Changed<change>>(std::move(right), from));
}

/// In the place of each block stands the one of that number.
void Rearrange(const std::vector<size_t>& numbers, Bytes in) {
  const std::vector<std::byte> right(in.begin(), in.end());
  const size_t block = in.size() / numbers.size();
  for (const size_t number : numbers) {
    std::ranges::copy(std::span(right).subspan(number * block, block),
                      in.begin());
    in = in.subspan(block);
  }
}

void SortByRank(Members from, Bytes in) {
  std::vector<size_t> numbers(from.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  std::ranges::stable_sort(numbers, {}, [&](size_t i) { return from[i]; });
  Rearrange(numbers, in);
}

/// Replaces each rank's first block by its last one, and so on.
void TurnEdgesRound(Members from, Bytes in) {
  std::map<int, std::vector<size_t>> of_rank;
  for (size_t i = 0; i < from.size(); ++i) of_rank[from[i]].push_back(i);
  std::vector<size_t> numbers;
  for (const int rank : from) {
    numbers.push_back(of_rank[rank].back());
    of_rank[rank].pop_back();
  }
  Rearrange(numbers, in);
}

void LoseLast(Members from, Bytes in) {
  std::ranges::fill(in.last(in.size() / from.size()), std::byte{0});
}

Connected TurnNeighborsRound(Rank& rank, Members to, Members from) {
  return rank.right.Connect(from, to);
}

class Acknowledging final : public Neighbors {
 public:
  Acknowledging(std::unique_ptr<Neighbors> right, Endpoint& messages,
                Members to, Members from)
      : right_(std::move(right)),
        messages_(messages),
        to_(to.begin(), to.end()),
        from_(from.begin(), from.end()) {}
  Status Exchange(std::span<const std::byte> out, Bytes in) override {
    ASSAY_RETURN_IF_ERROR(right_->Exchange(out, in));
    for (const int other : from_) {
      ASSAY_RETURN_IF_ERROR(messages_.Exchange(other, {}, kNobody, {}));
    }
    for (const int other : to_) {
      ASSAY_RETURN_IF_ERROR(messages_.Exchange(kNobody, {}, other, {}));
    }
    return OkStatus();
  }

 private:
  const std::unique_ptr<Neighbors> right_;
  Endpoint& messages_;
  const std::vector<int> to_, from_;
};

Connected Acknowledge(Rank& rank, Members to, Members from) {
  ASSAY_ASSIGN_OR_RETURN(auto right, rank.right.Connect(to, from));
  return std::unique_ptr<Neighbors>(
      std::make_unique<Acknowledging>(std::move(right), rank.right, to, from));
}

}  // namespace

std::span<const Mutant> NeighborMutants() {
  static constexpr Mutant kMutants[] = {
      {.name = "neighbors_in_order_of_ranks",
       .connect = WithBlocks<SortByRank>},
      {.name = "edges_turned_round", .connect = WithBlocks<TurnEdgesRound>},
      {.name = "neighbors_turned_round", .connect = TurnNeighborsRound},
      {.name = "last_neighbor_lost", .connect = WithBlocks<LoseLast>},
      {.name = "neighbors_acknowledged", .connect = Acknowledge},
  };
  return kMutants;
}

}  // namespace assay::threads
