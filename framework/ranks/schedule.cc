// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/schedule.h"

#include <bit>
#include <utility>

namespace assay::ranks {
namespace {

class Writer {
 public:
  Writer(const Collective& what, int rank)
      : rank_(rank), ranks_(what.ranks), count_(what.count) {}

  void Barrier(Algorithm algorithm);
  void Broadcast(Algorithm algorithm, int root);
  void Reduce(Algorithm algorithm, int root);
  void AllReduce(Algorithm algorithm);
  void Gather(int root);
  void Scatter(int root);
  void ReduceScatter(Algorithm algorithm);
  void AllGather(Algorithm algorithm);
  void AllToAll();

  Schedule Take() { return std::move(steps_); }

 private:
  void Send(int to, Part out) { steps_.push_back({to, out, kNobody, {}}); }
  void Receive(int from, Part in, bool combines) {
    steps_.push_back({kNobody, {}, from, in, combines});
  }
  void Exchange(int with, Part out, Part in, bool combines) {
    steps_.push_back({with, out, with, in, combines});
  }
  Part All() const { return {0, count_}; }
  Part Block(int64_t of) const { return {of * count_, count_}; }
  int Around(int64_t rank) const {
    return static_cast<int>(((rank % ranks_) + ranks_) % ranks_);
  }

  void Ring(int first, bool combines, const auto& chunk);
  void Halves(int place, int power, bool is_back);
  int Fold(int power);
  int RankAt(int place, int power) const;

  int rank_, ranks_;
  int64_t count_;
  Schedule steps_;
};

void Writer::Broadcast(Algorithm algorithm, int root) {
  if (algorithm == Algorithm::kLinear) {
    if (rank_ != root) return Receive(root, All(), false);
    for (int to = 0; to < ranks_; ++to) {
      if (to != root) Send(to, All());
    }
    return;
  }
  // With ranks counted from the root, a rank receives from the rank without its
  // lowest set bit, and sends to those with a lower one.
  const int place = Around(rank_ - root);
  int bit = 1;
  while (bit < ranks_ && (place & bit) == 0) bit *= 2;
  if (place != 0) Receive(Around(rank_ - bit), All(), false);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (place + bit < ranks_) Send(Around(rank_ + bit), All());
  }
}

void Writer::Reduce(Algorithm algorithm, int root) {
  if (algorithm == Algorithm::kLinear) {
    if (rank_ != root) return Send(root, All());
    for (int from = 0; from < ranks_; ++from) {
      if (from != root) Receive(from, All(), true);
    }
    return;
  }
  const int place = Around(rank_ - root);
  for (int bit = 1; bit < ranks_; bit *= 2) {
    if ((place & bit) != 0) return Send(Around(rank_ - bit), All());
    if (place + bit < ranks_) Receive(Around(rank_ + bit), All(), true);
  }
}

/// Each chunk goes once around the ring, and stops before the rank that it
/// began at. `first` is the chunk that this rank sends first.
void Writer::Ring(int first, bool combines, const auto& chunk) {
  for (int round = 0; round + 1 < ranks_; ++round) {
    const int sent = Around(first - round);
    steps_.push_back({Around(rank_ + 1), chunk(sent), Around(rank_ - 1),
                      chunk(Around(sent - 1)), combines});
  }
}

/// Folds the ranks to a power of two: among the first ranks each even one hands
/// its vector to the next. Returns a rank's place among those that go on, and
/// nobody for one that has handed its vector over.
int Writer::Fold(int power) {
  const int more = ranks_ - power;
  if (rank_ >= 2 * more) return rank_ - more;
  if (rank_ % 2 == 0) {
    Send(rank_ + 1, All());
    return kNobody;
  }
  Receive(rank_ - 1, All(), true);
  return rank_ / 2;
}

int Writer::RankAt(int place, int power) const {
  const int more = ranks_ - power;
  return place < more ? 2 * place + 1 : place + more;
}

/// Windows are halved from round to round, and each of two partners goes on
/// with one half. On the way back a rank gets the half that it had given up.
void Writer::Halves(int place, int power, bool is_back) {
  struct Round {
    int with;
    Part kept, given;
  };
  std::vector<Round> rounds;
  Part window = All();
  for (int bit = 1; bit < power; bit *= 2) {
    const int64_t half = window.count / 2;
    const Part low{window.begin, half};
    const Part high{window.begin + half, window.count - half};
    const bool is_low = (place & bit) == 0;
    const int with = RankAt(place ^ bit, power);
    rounds.push_back({with, is_low ? low : high, is_low ? high : low});
    window = rounds.back().kept;
  }
  if (!is_back) {
    for (const Round& round : rounds) {
      Exchange(round.with, round.given, round.kept, true);
    }
    return;
  }
  for (size_t i = rounds.size(); i-- > 0;) {
    Exchange(rounds[i].with, rounds[i].kept, rounds[i].given, false);
  }
}

void Writer::AllReduce(Algorithm algorithm) {
  if (algorithm == Algorithm::kRing) {
    const auto chunk = [&](int64_t of) {
      const int64_t begin = of * count_ / ranks_;
      return Part{begin, (of + 1) * count_ / ranks_ - begin};
    };
    Ring(rank_, true, chunk);
    return Ring(Around(rank_ + 1), false, chunk);
  }
  if (algorithm == Algorithm::kLinear || algorithm == Algorithm::kBinomial) {
    Reduce(algorithm, 0);
    return Broadcast(algorithm, 0);
  }
  const auto power =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks_)));
  const int place = Fold(power);
  if (place != kNobody) {
    if (algorithm == Algorithm::kRabenseifner) {
      Halves(place, power, /*is_back=*/false);
      Halves(place, power, /*is_back=*/true);
    } else {
      for (int bit = 1; bit < power; bit *= 2) {
        Exchange(RankAt(place ^ bit, power), All(), All(), true);
      }
    }
  }
  if (rank_ >= 2 * (ranks_ - power)) return;
  if (place == kNobody) return Receive(rank_ + 1, All(), false);
  Send(rank_ - 1, All());
}

void Writer::Gather(int root) {
  if (rank_ != root) return Send(root, Block(rank_));
  for (int from = 0; from < ranks_; ++from) {
    if (from != root) Receive(from, Block(from), false);
  }
}

void Writer::Scatter(int root) {
  if (rank_ != root) return Receive(root, Block(rank_), false);
  for (int to = 0; to < ranks_; ++to) {
    if (to != root) Send(to, Block(to));
  }
}

void Writer::ReduceScatter(Algorithm algorithm) {
  if (algorithm == Algorithm::kRing) {
    // The order makes the last block to come in the rank's own.
    return Ring(Around(rank_ - 1), true, [&](int64_t of) { return Block(of); });
  }
  const Part whole{0, ranks_ * count_};
  if (rank_ != 0) {
    Send(0, whole);
  } else {
    for (int from = 1; from < ranks_; ++from) Receive(from, whole, true);
  }
  Scatter(0);
}

void Writer::AllGather(Algorithm algorithm) {
  if (algorithm == Algorithm::kRing) {
    return Ring(rank_, false, [&](int64_t of) { return Block(of); });
  }
  Gather(0);
  const Part whole{0, ranks_ * count_};
  if (rank_ != 0) return Receive(0, whole, false);
  for (int to = 1; to < ranks_; ++to) Send(to, whole);
}

void Writer::AllToAll() {
  const auto came = [&](int64_t of) {
    return Part{(ranks_ + of) * count_, count_};
  };
  for (int far = 0; far < ranks_; ++far) {
    const int to = Around(rank_ + far);
    const int from = Around(rank_ - far);
    steps_.push_back({to, Block(to), from, came(from), false});
  }
}

void Writer::Barrier(Algorithm algorithm) {
  count_ = 0;
  if (algorithm != Algorithm::kDissemination) return AllReduce(algorithm);
  for (int64_t far = 1; far < ranks_; far *= 2) {
    steps_.push_back(
        {Around(rank_ + far), All(), Around(rank_ - far), All(), false});
  }
}

}  // namespace

Result<Schedule> ScheduleOf(const Collective& what, int rank) {
  ASSAY_RETURN_IF_ERROR(Check(what));
  if (rank < 0 || rank >= what.ranks) {
    return InvalidArgument("found the rank ", rank, ", wanted one from 0 to ",
                           what.ranks - 1);
  }
  Writer writer(what, rank);
  switch (what.operation) {
    case Operation::kBarrier:
      writer.Barrier(what.algorithm);
      break;
    case Operation::kBroadcast:
      writer.Broadcast(what.algorithm, what.root);
      break;
    case Operation::kReduce:
      writer.Reduce(what.algorithm, what.root);
      break;
    case Operation::kAllReduce:
      writer.AllReduce(what.algorithm);
      break;
    case Operation::kGather:
      writer.Gather(what.root);
      break;
    case Operation::kScatter:
      writer.Scatter(what.root);
      break;
    case Operation::kReduceScatter:
      writer.ReduceScatter(what.algorithm);
      break;
    case Operation::kAllGather:
      writer.AllGather(what.algorithm);
      break;
    case Operation::kAllToAll:
      writer.AllToAll();
      break;
  }
  return writer.Take();
}

}  // namespace assay::ranks
