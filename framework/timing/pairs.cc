// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/pairs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/timing/statistics.h"

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

Result<std::vector<std::vector<Block>>> TakeGroups(const BindBoth& bind,
                                                   const TimeOfSide& time_of,
                                                   uint64_t seed,
                                                   const GroupLimits& most,
                                                   const Clock& clock) {
  const int64_t end = clock() + most.budget_ns;
  core::Numbers coin(seed);
  std::vector<std::vector<Block>> groups;
  for (int64_t left = most.groups; left > 0; --left) {
    const int64_t start = clock();
    if (start >= end && !groups.empty()) break;
    ASSAY_RETURN_IF_ERROR(
        bind(coin.Below(2) == 0 ? Side::kBase : Side::kCandidate));
    const int64_t bound = clock();
    const int64_t budget = std::max((end - bound) / left, bound - start);
    ASSAY_ASSIGN_OR_RETURN(
        Pairs pairs,
        TakePairs(time_of, core::KeyOf(seed, left),
                  Stopping({Count{most.blocks}, Budget{budget}}), clock));
    groups.push_back(std::move(pairs.blocks));
  }
  return groups;
}

Result<std::vector<double>> GroupLogRatios(
    std::span<const std::vector<Block>> groups) {
  std::vector<double> medians;
  for (const std::vector<Block>& blocks : groups) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<double> ratios, LogRatios(blocks));
    std::ranges::sort(ratios);
    medians.push_back(Percentile(ratios, 0.5));
  }
  return medians;
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

std::vector<double> Differences(std::span<const Block> blocks) {
  std::vector<double> differences;
  for (const Block& block : blocks) {
    double sum = 0;
    for (size_t i = 0; i < block.ns.size(); ++i) {
      sum += block.order[i] == Side::kBase ? -block.ns[i] : block.ns[i];
    }
    differences.push_back(sum / 2);
  }
  return differences;
}

double MedianOf(std::span<const Block> blocks, Side side) {
  std::vector<double> ns;
  for (const Block& block : blocks) {
    for (size_t i = 0; i < block.ns.size(); ++i) {
      if (block.order[i] == side) ns.push_back(block.ns[i]);
    }
  }
  return Summarize(ns).median;
}

}  // namespace assay::timing
