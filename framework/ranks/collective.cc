// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/collective.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "framework/core/text.h"
#include "framework/ranks/number.h"

namespace assay::ranks {
namespace {

using enum Algorithm;

constexpr std::array kAlgorithmNames = {
    "linear",       "binomial",      "ring", "recursive_doubling",
    "rabenseifner", "dissemination",
};

constexpr std::array kOfBarrier = {kLinear, kBinomial, kDissemination};
constexpr std::array kOfTree = {kLinear, kBinomial};
constexpr std::array kOfAllReduce = {kLinear, kBinomial, kRing,
                                     kRecursiveDoubling, kRabenseifner};
constexpr std::array kOfBlocks = {kLinear, kRing};
constexpr std::array kOfOne = {kLinear};

/// A rank's buffer has `whole` blocks, and so many more of each rank.
struct OperationFacts {
  std::span<const Algorithm> algorithms;
  bool has_root;
  int64_t whole, of_each_rank;
};

constexpr OperationFacts kFacts[] = {
    {kOfBarrier, false, 0, 0},    // barrier
    {kOfTree, true, 1, 0},        // broadcast
    {kOfTree, true, 1, 0},        // reduce
    {kOfAllReduce, false, 1, 0},  // all-reduce
    {kOfOne, true, 0, 1},         // gather
    {kOfOne, true, 0, 1},         // scatter
    {kOfBlocks, false, 0, 1},     // reduce-scatter
    {kOfBlocks, false, 0, 1},     // all-gather
    {kOfOne, false, 0, 2},        // all-to-all
};

const OperationFacts& FactsOf(Operation operation) {
  return kFacts[static_cast<size_t>(operation)];
}

/// The greatest power of two <= ranks.
int64_t PowerBelow(int64_t ranks) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(ranks)));
}

int64_t LogOf(int64_t power) {
  return std::countr_zero(static_cast<uint64_t>(power));
}

/// S elements, n ranks, p = PowerBelow(n). The other n - p ranks hand their
/// vectors to one of the p and get the result back.
Cost OfAllReduce(Algorithm algorithm, int64_t n, int64_t s) {
  const int64_t p = PowerBelow(n);
  const int64_t more = n - p;
  switch (algorithm) {
    case kRing:
      return {2 * (n - 1) * s, 2 * n * (n - 1)};
    case kRecursiveDoubling: {
      const int64_t messages = p * LogOf(p) + 2 * more;
      return {messages * s, messages};
    }
    case kRabenseifner:
      // In a round of halving p/2 pairs send each other a whole window. There
      // are 1, 2, 4 ... windows: S (p/2 + p/4 + ... + 1) elements, and as many
      // on the way back.
      return {2 * (p - 1 + more) * s, 2 * p * LogOf(p) + 2 * more};
    default:
      return {2 * (n - 1) * s, 2 * (n - 1)};
  }
}

Cost OfBarrier(Algorithm algorithm, int64_t n) {
  if (algorithm != kDissemination) return {0, 2 * (n - 1)};
  const int64_t rounds = std::bit_width(static_cast<uint64_t>(n - 1));
  return {0, n * rounds};
}

}  // namespace

std::string_view ToString(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<size_t>(algorithm)];
}

std::string ToString(const Collective& what) {
  std::string text =
      StrCat(ToString(what.operation), "/", ToString(what.algorithm), ", ",
             what.ranks, " ranks, ", what.count, " elements");
  if (HasRoot(what.operation)) text += StrCat(", root ", what.root);
  return text;
}

std::span<const Algorithm> AlgorithmsOf(Operation operation) {
  return FactsOf(operation).algorithms;
}

bool HasRoot(Operation operation) { return FactsOf(operation).has_root; }

bool IsDefined(Reduction reduction, DType type) {
  if (reduction == Reduction::kCompose) return type == DType::kUint64;
  const bool is_integer = VisitInteger(type, [](auto) {});
  if (reduction > Reduction::kMax) return is_integer;
  return is_integer || VisitNumber(type, [](auto) {});
}

Status Check(const Collective& what) {
  if (what.ranks < 1) {
    return InvalidArgument("found ", what.ranks, " ranks, wanted 1 or more");
  }
  if (what.count < 0) {
    return InvalidArgument("found ", what.count, " elements, wanted 0 or more");
  }
  if (HasRoot(what.operation) && (what.root < 0 || what.root >= what.ranks)) {
    return InvalidArgument("found the root ", what.root,
                           ", wanted a rank from 0 to ", what.ranks - 1);
  }
  const auto algorithms = AlgorithmsOf(what.operation);
  if (std::ranges::find(algorithms, what.algorithm) != algorithms.end()) {
    return OkStatus();
  }
  std::vector<std::string_view> names;
  for (const Algorithm each : algorithms) names.push_back(ToString(each));
  return Unsupported(Reason::kOperator, "found ", ToString(what.algorithm),
                     " for ", ToString(what.operation), ", wanted ",
                     Joined(names, ", "));
}

int64_t ElementsOf(const Collective& what) {
  const OperationFacts& facts = FactsOf(what.operation);
  return (facts.whole + facts.of_each_rank * what.ranks) * what.count;
}

Result<Cost> CostOf(const Collective& what) {
  ASSAY_RETURN_IF_ERROR(Check(what));
  const int64_t n = what.ranks;
  const int64_t s = what.count;
  const bool is_ring = what.algorithm == kRing;
  switch (what.operation) {
    case Operation::kBarrier:
      return OfBarrier(what.algorithm, n);
    case Operation::kAllReduce:
      return OfAllReduce(what.algorithm, n, s);
    case Operation::kReduceScatter:
    case Operation::kAllGather:
      if (is_ring) return Cost{n * (n - 1) * s, n * (n - 1)};
      // One rank gets n S elements from each other one, and sends S back; or
      // gets S, and sends n S back.
      return Cost{(n - 1) * (n + 1) * s, 2 * (n - 1)};
    case Operation::kAllToAll:
      return Cost{n * (n - 1) * s, n * (n - 1)};
    case Operation::kBroadcast:
    case Operation::kReduce:
    case Operation::kGather:
    case Operation::kScatter:
      break;
  }
  return Cost{(n - 1) * s, n - 1};
}

}  // namespace assay::ranks
