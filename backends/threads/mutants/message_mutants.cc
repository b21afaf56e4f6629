// SPDX-License-Identifier: Apache-2.0
//
// Messages between two ranks, and blocks of neighbours.

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "backends/threads/mutants/mutant.h"

namespace assay::threads {
namespace {

using Bytes = std::span<std::byte>;
using Connected = Result<std::unique_ptr<Neighbors>>;
using Members = std::span<const int>;

/// A message comes, and is spoiled where it is.
template <auto spoil>
Status Spoiled(Rank& rank, const Exchanged& what) {
  ASSAY_RETURN_IF_ERROR(what.By(rank.right));
  if (what.from != kNobody && !what.in.empty()) spoil(rank, what.in);
  return OkStatus();
}

void FlipLastBit(Rank& rank, Bytes in) {
  if (rank.number() == 1) in.back() ^= std::byte{1};
}

void FlipOnce(Rank& rank, Bytes in) {
  if (rank.number() == 0 && rank.exchanges == 2) in.front() ^= std::byte{1};
}

void LoseLastByte(Rank&, Bytes in) { in.back() = std::byte{0}; }

void LoseThird(Rank& rank, Bytes in) {
  if (rank.exchanges == 3) std::ranges::fill(in, std::byte{0});
}

void LoseSecondHalf(Rank&, Bytes in) {
  std::ranges::fill(in.subspan(in.size() / 2), std::byte{0});
}

void ExchangeHalves(Rank&, Bytes in) {
  std::ranges::rotate(in,
                      in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2));
}

void ReverseWords(Rank&, Bytes in) {
  constexpr size_t kWord = 4;
  for (; in.size() >= kWord; in = in.subspan(kWord)) {
    std::ranges::reverse(in.first(kWord));
  }
}

/// The two lower bytes of each word: half of a float32's digits.
void RoundWords(Rank&, Bytes in) {
  constexpr size_t kWord = 4;
  for (; in.size() >= kWord; in = in.subspan(kWord)) {
    std::ranges::fill(in.first(kWord / 2), std::byte{0});
  }
}

void ShowLast(Rank& rank, Bytes in) {
  const std::vector<std::byte> now(in.begin(), in.end());
  if (rank.kept.size() == in.size()) std::ranges::copy(rank.kept, in.begin());
  rank.kept = now;
}

Status SendNothingOnce(Rank& rank, const Exchanged& what) {
  Exchanged less = what;
  if (rank.number() == 1 && rank.exchanges == 2) less.to = kNobody;
  return less.By(rank.right);
}

Status SendTwice(Rank& rank, const Exchanged& what) {
  if (what.to != kNobody && rank.number() == 0) {
    ASSAY_RETURN_IF_ERROR(rank.right.Exchange(what.to, what.out, kNobody, {}));
  }
  return what.By(rank.right);
}

Status SendToTheNextOne(Rank& rank, const Exchanged& what) {
  Exchanged other = what;
  if (what.to != kNobody) other.to = (what.to + 1) % rank.size();
  return other.By(rank.right);
}

Status ReceiveFromTheNextOne(Rank& rank, const Exchanged& what) {
  Exchanged other = what;
  if (what.from != kNobody) other.from = (what.from + 1) % rank.size();
  return other.By(rank.right);
}

/// The received bytes replace those that go out, before these are sent.
Status ReceiveFirst(Rank& rank, const Exchanged& what) {
  ASSAY_RETURN_IF_ERROR(rank.right.Exchange(kNobody, {}, what.from, what.in));
  return rank.right.Exchange(what.to, what.out, kNobody, {});
}

Status LoseEmpty(Rank& rank, const Exchanged& what) {
  Exchanged less = what;
  if (what.out.empty()) less.to = kNobody;
  return less.By(rank.right);
}

/// An empty message goes back for each that came.
Status Acknowledge(Rank& rank, const Exchanged& what) {
  ASSAY_RETURN_IF_ERROR(what.By(rank.right));
  return rank.right.Exchange(what.from, {}, what.to, {});
}

Status SendInHalves(Rank& rank, const Exchanged& what) {
  const size_t out = what.out.size() / 2;
  const size_t in = what.in.size() / 2;
  ASSAY_RETURN_IF_ERROR(rank.right.Exchange(what.to, what.out.first(out),
                                            what.from, what.in.first(in)));
  return rank.right.Exchange(what.to, what.out.subspan(out), what.from,
                             what.in.subspan(in));
}

/// Each message begins with bytes of the library's own.
Status SendWithHeader(Rank& rank, const Exchanged& what) {
  constexpr std::ptrdiff_t kHeader = 8;
  std::vector<std::byte> out(kHeader);
  out.insert(out.end(), what.out.begin(), what.out.end());
  std::vector<std::byte> in(kHeader + what.in.size());
  ASSAY_RETURN_IF_ERROR(rank.right.Exchange(what.to, out, what.from, in));
  std::copy(in.begin() + kHeader, in.end(), what.in.begin());
  return OkStatus();
}

Status FailLate(Rank& rank, const Exchanged& what) {
  if (rank.number() == rank.size() - 1 && rank.exchanges == 2) {
    return Internal("the link is down");
  }
  return what.By(rank.right);
}

Result<int> NameTheNextOne(Rank& rank, Bytes in) {
  ASSAY_ASSIGN_OR_RETURN(const int from, rank.right.ReceiveAny(in));
  return (from + 1) % rank.size();
}

Result<int> TakeTheFirstOneAlone(Rank& rank, Bytes in) {
  ASSAY_RETURN_IF_ERROR(rank.right.Exchange(kNobody, {}, 1 % rank.size(), in));
  return 1 % rank.size();
}

Result<int> ShowLastOfAnybody(Rank& rank, Bytes in) {
  ASSAY_ASSIGN_OR_RETURN(const int from, rank.right.ReceiveAny(in));
  ShowLast(rank, in);
  return from;
}

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

Connected AcknowledgeBlocks(Rank& rank, Members to, Members from) {
  ASSAY_ASSIGN_OR_RETURN(auto right, rank.right.Connect(to, from));
  return std::unique_ptr<Neighbors>(
      std::make_unique<Acknowledging>(std::move(right), rank.right, to, from));
}

}  // namespace

std::span<const Mutant> MessageMutants() {
  static constexpr Mutant kMutants[] = {
      {.name = "last_bit_flipped", .exchange = Spoiled<FlipLastBit>},
      {.name = "one_bit_once", .exchange = Spoiled<FlipOnce>},
      {.name = "last_byte_lost", .exchange = Spoiled<LoseLastByte>},
      {.name = "third_message_lost", .exchange = Spoiled<LoseThird>},
      {.name = "half_a_message", .exchange = Spoiled<LoseSecondHalf>},
      {.name = "halves_exchanged", .exchange = Spoiled<ExchangeHalves>},
      {.name = "bytes_of_words_reversed", .exchange = Spoiled<ReverseWords>},
      {.name = "words_rounded", .exchange = Spoiled<RoundWords>},
      {.name = "message_before_shown", .exchange = Spoiled<ShowLast>},
      {.name = "second_send_lost", .exchange = SendNothingOnce},
      {.name = "sent_twice", .exchange = SendTwice},
      {.name = "sent_to_the_next", .exchange = SendToTheNextOne},
      {.name = "received_from_the_next", .exchange = ReceiveFromTheNextOne},
      {.name = "receives_before_it_sends", .exchange = ReceiveFirst},
      {.name = "empty_messages_lost", .exchange = LoseEmpty},
      {.name = "messages_acknowledged", .exchange = Acknowledge},
      {.name = "messages_in_halves", .exchange = SendInHalves},
      {.name = "messages_with_header", .exchange = SendWithHeader},
      {.name = "link_goes_down", .exchange = FailLate},
      {.name = "sender_misnamed", .receive_any = NameTheNextOne},
      {.name = "anybody_is_the_first", .receive_any = TakeTheFirstOneAlone},
      {.name = "anybody_before_shown", .receive_any = ShowLastOfAnybody},
      {.name = "neighbors_in_order_of_ranks",
       .connect = WithBlocks<SortByRank>},
      {.name = "edges_turned_round", .connect = WithBlocks<TurnEdgesRound>},
      {.name = "neighbors_turned_round", .connect = TurnNeighborsRound},
      {.name = "last_neighbor_lost", .connect = WithBlocks<LoseLast>},
      {.name = "neighbors_acknowledged", .connect = AcknowledgeBlocks},
  };
  return kMutants;
}

}  // namespace assay::threads
