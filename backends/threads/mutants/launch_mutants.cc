// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "backends/threads/mutants/mutant.h"

namespace assay::threads {
namespace {

using Started = Result<std::unique_ptr<Pending>>;
using Part = Result<std::unique_ptr<Endpoint>>;
using Ended = Result<std::vector<RankEnd>>;

/// Sends the bytes that were there when it began, however long the other rank
/// takes.
class NotWaited final : public Pending {
 public:
  NotWaited(std::unique_ptr<Pending> right, std::vector<std::byte> before,
            std::span<std::byte> out)
      : right_(std::move(right)), before_(std::move(before)), out_(out) {}
  Status Wait() override {
    ASSAY_RETURN_IF_ERROR(right_->Wait());
    std::ranges::copy(before_, out_.begin());
    return OkStatus();
  }

 private:
  std::unique_ptr<Pending> right_;
  const std::vector<std::byte> before_;
  std::span<std::byte> out_;
};

Started DoNotWait(Rank& rank, const CollectiveCall& call) {
  std::vector<std::byte> before(call.out.begin(), call.out.end());
  ASSAY_ASSIGN_OR_RETURN(auto right, rank.right.Start(call));
  return std::unique_ptr<Pending>(std::make_unique<NotWaited>(
      std::move(right), std::move(before), call.out));
}

/// Begins when it is waited for.
class Late final : public Pending {
 public:
  Late(Endpoint& right, const CollectiveCall& call)
      : right_(right), call_(call) {}
  Status Wait() override { return right_.Collect(call_); }

 private:
  Endpoint& right_;
  const CollectiveCall call_;
};

Started BeginLate(Rank& rank, const CollectiveCall& call) {
  return std::unique_ptr<Pending>(std::make_unique<Late>(rank.right, call));
}

Started LoseStartOfRankZero(Rank& rank, const CollectiveCall& call) {
  if (rank.number() != 0) return rank.right.Start(call);
  return DoNotWait(rank, call);
}

Part IgnoreKey(Rank& rank, int color, int) {
  return rank.right.Split(color, 0);
}
Part TurnTiesRound(Rank& rank, int color, int key) {
  return rank.right.Split(color, key * rank.size() - rank.number());
}
Part ColorEveryone(Rank& rank, int color, int key) {
  constexpr int kOther = 1000;
  return rank.right.Split(color == kNoColor ? kOther : color, key);
}
Part IgnoreColor(Rank& rank, int, int key) { return rank.right.Split(0, key); }
Part TurnKeysRound(Rank& rank, int color, int key) {
  return rank.right.Split(color, -key);
}
Part ExchangeColors(Rank& rank, int color, int key) {
  const bool is_first = rank.number() < 2;
  return rank.right.Split(is_first ? 1 - color : color, key);
}

int AllAreFirst(const Rank&) { return 0; }
int OneFurther(const Rank& rank) { return (rank.number() + 1) % rank.size(); }
int OneLess(const Rank& rank) { return std::max(1, rank.size() - 1); }

Ended RunTwice(const RunBody& right, int count, const RankBody& rank) {
  ASSAY_RETURN_IF_ERROR(right(count, rank).status());
  return right(count, rank);
}
Ended RunNobody(const RunBody&, int, const RankBody&) {
  return std::vector<RankEnd>();
}
/// Leaves out the last rank, and says that it has ended.
Ended RunFewer(const RunBody& right, int count, const RankBody& rank) {
  if (count == 1) return RunNobody(right, count, rank);
  ASSAY_ASSIGN_OR_RETURN(std::vector<RankEnd> ended, right(count - 1, rank));
  ended.push_back({count - 1, OkStatus()});
  return ended;
}
Ended ForgetAnEnd(const RunBody& right, int count, const RankBody& rank) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<RankEnd> ended, right(count, rank));
  ended.pop_back();
  return ended;
}

}  // namespace

std::span<const Mutant> LaunchMutants() {
  static constexpr Mutant kMutants[] = {
      {.name = "started_not_waited_for", .start = DoNotWait},
      {.name = "started_late", .start = BeginLate},
      {.name = "started_in_vain_on_rank_zero", .start = LoseStartOfRankZero},
      {.name = "split_ignores_keys", .split = IgnoreKey},
      {.name = "split_ignores_colors", .split = IgnoreColor},
      {.name = "split_turned_round", .split = TurnKeysRound},
      {.name = "split_turns_ties_round", .split = TurnTiesRound},
      {.name = "split_colors_everyone", .split = ColorEveryone},
      {.name = "split_exchanges_colors", .split = ExchangeColors},
      {.name = "all_are_first", .number = AllAreFirst},
      {.name = "ranks_one_further", .number = OneFurther},
      {.name = "one_rank_less", .size = OneLess},
      {.name = "ranks_run_twice", .run = RunTwice},
      {.name = "nobody_runs", .run = RunNobody},
      {.name = "last_rank_does_not_run", .run = RunFewer},
      {.name = "an_end_forgotten", .run = ForgetAnEnd},
  };
  return kMutants;
}

}  // namespace assay::threads
