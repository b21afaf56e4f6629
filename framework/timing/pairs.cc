// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/pairs.h"

#include <algorithm>
#include <cmath>

namespace assay::timing {

Block AbbaOrder::Next() {
  constexpr Side kA = Side::kBase;
  constexpr Side kB = Side::kCandidate;
  if (coin_.Below(2) == 0) return {.order = {kA, kB, kB, kA}};
  return {.order = {kB, kA, kA, kB}};
}

Result<Pairs> TakePairs(const TimeOfSide& time_of, uint64_t seed,
                        Stopping stopping, const Clock& clock) {
  if (!stopping.budget_ns()) {
    return InvalidArgument("found criteria without a budget, wanted one");
  }
  const int64_t start = clock();
  AbbaOrder order(seed);
  Pairs pairs;
  for (std::vector<double> ratios;;) {
    Block block = order.Next();
    for (size_t i = 0; i < block.order.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(block.ns[i], time_of(block.order[i]));
    }
    pairs.blocks.push_back(block);
    ASSAY_ASSIGN_OR_RETURN(const auto log_ratio, LogRatios({&block, 1}));
    ratios.push_back(std::exp(log_ratio[0]));
    if (const auto reason = stopping.Ask(ratios, clock() - start)) {
      pairs.stop_reason = *reason;
      return pairs;
    }
  }
}

Result<std::vector<double>> LogRatios(std::span<const Block> blocks) {
  std::vector<double> log_ratios;
  for (const Block& block : blocks) {
    const auto& order = block.order;
    if (order[0] != order[3] || order[1] != order[2] || order[0] == order[1]) {
      return InvalidArgument("block ", log_ratios.size(),
                             " is neither ABBA nor BAAB");
    }
    double sum = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const double ns = block.ns[i];
      if (!(ns > 0) || !std::isfinite(ns)) {
        return InvalidArgument("block ", log_ratios.size(), " has a time of ",
                               ns, " ns, wanted it above 0");
      }
      sum += order[i] == Side::kCandidate ? std::log(ns) : -std::log(ns);
    }
    log_ratios.push_back(sum / 2);
  }
  return log_ratios;
}

}  // namespace assay::timing
