// SPDX-License-Identifier: Apache-2.0
//
// Pairs: the order in which two are timed that are to be compared, and what a
// block of four times says of them.
//
//   const auto pairs = TakePairs(time_of_side, seed,
//                                Stopping({Count{200},
//                                          Budget{2'000'000'000}}));
//   if (pairs.ok()) log_ratios = LogRatios(pairs->blocks);
//
// A block is base, candidate, candidate, base, or the reverse, by the toss of a
// coin. Within it a drift that goes on evenly cancels; between blocks any drift
// does. The coin is what a comparison rests on: were both the same, the times
// would be what they are whichever way it fell, and each log-ratio would be as
// likely to have the other sign, however much the times of neighbours have in
// common (R. Fisher, The Design of Experiments, 1935). So the unit is the block
// and not the pair: both pairs of a block hang on one coin.
//
// The place of memory is common to all blocks behind one binding, and may make
// a side faster for as long. Blocks are therefore taken in groups, each behind
// new bindings of both sides, and the unit is then the group:
//
//   const auto groups = TakeGroups(bind_both, time_of_side, seed,
//                                  {.budget_ns = 2'000'000'000});
//   if (groups.ok()) log_ratios = GroupLogRatios(*groups);

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/timing/clock.h"
#include "framework/timing/stopping.h"

namespace assay::timing {

enum class Side : uint8_t { kBase, kCandidate };

struct Block {
  std::array<Side, 4> order = {};
  std::array<double, 4> ns = {};  // in that order
};

class AbbaOrder {
 public:
  explicit AbbaOrder(uint64_t seed) : coin_(seed) {}

  /// The order of the next block, without times.
  Block Next();

 private:
  core::Numbers coin_;
};

/// Times one sample of a side, in the nanoseconds of a call: here, or in
/// another process with a clock of its own.
using TimeOfSide = std::function<Result<double>(Side)>;

struct Pairs {
  std::vector<Block> blocks;
  StopReason stop_reason = StopReason::kBudget;
};

/// Blocks, one at least, until the criteria are met, which are asked of the
/// ratios of the blocks: a half-width of 0.002 is one of 0.2 % of the ratio. A
/// comparison that decides stops by Count and Budget, which do not look at the
/// ratios; HalfWidth is for a ratio that is only told (stopping.h). The sides
/// are warm already. `clock` is for the budget. Invalid argument for criteria
/// without a Budget, or what LogRatios does not take; a failure of a side is
/// returned as it is.
Result<Pairs> TakePairs(const TimeOfSide& time_of, uint64_t seed,
                        Stopping stopping, const Clock& clock = SteadyNow);

/// Binds both sides anew, that one first.
using BindBoth = std::function<Status(Side first)>;

/// How much is taken at most.
struct GroupLimits {
  int64_t groups = 20;
  int64_t blocks = 40;    // of a group
  int64_t budget_ns = 0;  // wall time, bindings included
};

/// Groups of blocks, one of one block at least, each behind a call of `bind`
/// for a side by the toss of a coin. A group has its share of the time that is
/// left, and as much as its binding took at least. Errors are those of
/// TakePairs; a failure of `bind` is returned as it is.
Result<std::vector<std::vector<Block>>> TakeGroups(
    const BindBoth& bind, const TimeOfSide& time_of, uint64_t seed,
    const GroupLimits& most, const Clock& clock = SteadyNow);

/// The median of LogRatios in each group. Were both sides the same, it would
/// have the other sign if all coins of the group had fallen otherwise, which is
/// as likely.
Result<std::vector<double>> GroupLogRatios(
    std::span<const std::vector<Block>> groups);

/// The logarithm of candidate over base by block: the mean logarithm of its two
/// times less that of the base's two. Invalid argument, with the block, for a
/// time that is not above 0 and finite, or an order that AbbaOrder does not
/// give.
Result<std::vector<double>> LogRatios(std::span<const Block> blocks);

/// Candidate less base by block, in nanoseconds: half the sum of its two times
/// less half of the base's.
std::vector<double> Differences(std::span<const Block> blocks);

/// The median over all times of a side; at least one block.
double MedianOf(std::span<const Block> blocks, Side side);

}  // namespace assay::timing
