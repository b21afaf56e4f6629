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

/// The logarithm of candidate over base by block: the mean logarithm of its two
/// times less that of the base's two. Invalid argument, with the block, for a
/// time that is not above 0 and finite, or an order that AbbaOrder does not
/// give.
Result<std::vector<double>> LogRatios(std::span<const Block> blocks);

}  // namespace assay::timing
