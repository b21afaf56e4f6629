// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/own/own_grid.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace assay::distributed {
namespace {

using ranks::Operation;
using ranks::Reduction;

constexpr DType kGridTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kUint8,   DType::kInt32,   DType::kUint32,
    DType::kInt64,   DType::kUint64};
constexpr Reduction kGridReductions[] = {
    Reduction::kSum,        Reduction::kProduct,    Reduction::kMin,
    Reduction::kMax,        Reduction::kBitAnd,     Reduction::kBitOr,
    Reduction::kBitXor,     Reduction::kLogicalAnd, Reduction::kLogicalOr,
    Reduction::kLogicalXor, Reduction::kCompose};
// Halves of one rank say nothing of a split.
constexpr int kGridRanks[] = {2, 3, 8, 4};
constexpr int kOfSplits[] = {4, 8};
// The first blocks, and the elements of all ranks, that a case of tier ci may
// have.
constexpr size_t kBlocksOfCi = 6;
constexpr int64_t kMostElementsOfCi = 300'000;
// The elements of all ranks that any case may have.
constexpr int64_t kMostElements = 10'000'000;

// None, fewer than ranks, a prime, and both sides of 10,000 bytes of float32,
// where the module "tuned" of Open MPI switches algorithms.
constexpr int64_t kOwnCounts[] = {0, 1, 5, 1021, 2499, 2501};
constexpr int kMostOfLong = 8;
constexpr int64_t kLong = 2000;
// Ranks with which a way is tried alone.
constexpr int kOfEachWay[] = {1, 3, 4, 8};
constexpr int kOfHalves[] = {1, 2, 3, 4};

/// The elements of the buffers of all ranks.
int64_t BuffersOf(const OwnCase& test_case) {
  const ranks::Collective& what = test_case.of.what;
  return test_case.sets() * what.ranks * ranks::ElementsOf(what);
}

/// True for a case of the grid: types and the greatest blocks are not crossed
/// with parts of the ranks, which are other communicators and no other calls.
bool IsOfGrid(const OwnCase& test_case, int64_t bytes) {
  const CollectiveCase& of = test_case.of;
  const bool is_usual =
      of.type == DType::kFloat32 && of.reduction == Reduction::kSum;
  const bool is_crossed = !Splits(test_case.way) && bytes <= kMostOfEachType;
  return (is_usual || is_crossed) && BuffersOf(test_case) <= kMostElements;
}

bool HasRanks(Way way, int ranks) {
  if (!Splits(way)) return ranks != 4;
  return std::ranges::find(kOfSplits, ranks) != std::end(kOfSplits);
}

/// A case and the places of its options.
struct Cell {
  OwnCase test_case;
  Options options;
};

/// The options of an operation: all of a list, or its first where it has no
/// such option.
template <class T>
std::span<const T> Those(std::span<const T> all, bool has_option) {
  return all.first(has_option ? all.size() : 1);
}

/// Adds the cases of a way, a type and a reduction.
void AddCells(Operation operation, const Options& at,
              std::vector<Cell>* cells) {
  const Way way = kWays[at[0]];
  const DType type = kGridTypes[at[2]];
  const auto sizes =
      Those<int64_t>(kBlockBytes, operation != Operation::kBarrier);
  for (size_t size = 0; size < sizes.size(); ++size) {
    for (size_t i = 0; i < std::size(kGridRanks); ++i) {
      const int ranks = kGridRanks[i];
      if (!HasRanks(way, ranks)) continue;
      Cell cell{{.of = {}, .way = way}, at};
      cell.options[1] = static_cast<uint8_t>(size);
      cell.options[4] = static_cast<uint8_t>(i);
      CollectiveCase& of = cell.test_case.of;
      of.what = {operation, ranks::Algorithm::kLinear,
                 Splits(way) ? ranks / 2 : ranks,
                 sizes[size] * 8 / BitsOf(type), 0};
      of.reduction = kGridReductions[at[3]];
      of.type = type;
      if (IsOfGrid(cell.test_case, sizes[size])) cells->push_back(cell);
    }
  }
}

std::vector<Cell> CellsOf(Operation operation) {
  std::vector<Cell> cells;
  const bool is_barrier = operation == Operation::kBarrier;
  const auto types = Those<DType>(kGridTypes, !is_barrier);
  const auto reductions = Those<Reduction>(kGridReductions, Reduces(operation));
  for (size_t way = 0; way < kWays.size(); ++way) {
    const bool is_in_place =
        kWays[way] == Way::kInPlace || kWays[way] == Way::kStartedInPlace;
    if (is_barrier && is_in_place) continue;
    for (size_t type = 0; type < types.size(); ++type) {
      for (size_t by = 0; by < reductions.size(); ++by) {
        if (!ranks::IsDefined(kGridReductions[by], kGridTypes[type])) continue;
        AddCells(operation,
                 {static_cast<uint8_t>(way), 0, static_cast<uint8_t>(type),
                  static_cast<uint8_t>(by), 0},
                 &cells);
      }
    }
  }
  return cells;
}

constexpr size_t kOptions = std::tuple_size_v<Options>;
constexpr size_t kMostPlaces = 16;

/// The pairs of options that chosen cases have.
class Pairs {
 public:
  /// How many pairs of a case are not among them.
  size_t NewOf(const Options& options) const {
    size_t count = 0;
    Visit(options, [&](size_t pair) { count += has_[pair] ? 0 : 1; });
    return count;
  }
  void Add(const Options& options) {
    Visit(options, [&](size_t pair) { has_[pair] = true; });
  }

 private:
  static void Visit(const Options& options, const auto& visit) {
    for (size_t a = 0; a < kOptions; ++a) {
      for (size_t b = a + 1; b < kOptions; ++b) {
        const size_t one = a * kMostPlaces + options[a];
        const size_t other = b * kMostPlaces + options[b];
        visit(one * kOptions * kMostPlaces + other);
      }
    }
  }

  std::bitset<(kOptions * kMostPlaces) * (kOptions * kMostPlaces)> has_;
};

/// Chooses those with the most new pairs first. A case can only come to have
/// fewer, so that each waits among those of its number.
void Choose(std::span<const Options> all, std::vector<size_t> waiting,
            Pairs* pairs, std::vector<size_t>* chosen) {
  constexpr size_t kMost = kOptions * (kOptions - 1) / 2;
  std::array<std::vector<size_t>, kMost + 1> by_number;
  by_number[kMost] = std::move(waiting);
  for (size_t number = kMost; number > 0; --number) {
    for (const size_t each : by_number[number]) {
      const size_t now = pairs->NewOf(all[each]);
      if (now < number) {
        by_number[now].push_back(each);
        continue;
      }
      pairs->Add(all[each]);
      chosen->push_back(each);
    }
  }
}

/// Adds the cases in which one option alone is not the usual one.
void AddAlone(Operation operation, std::vector<OwnCase>* all) {
  const bool is_barrier = operation == Operation::kBarrier;
  const auto add = [&](Way way, int ranks, int64_t count) {
    const ranks::Collective what = {operation, ranks::Algorithm::kLinear, ranks,
                                    is_barrier ? 0 : count, 0};
    all->push_back({.of = {.what = what}, .way = way});
  };
  for (const int ranks : kCollectiveRanks) {
    for (const int64_t count : kOwnCounts) {
      if (count < kLong || ranks <= kMostOfLong) add(Way::kOwn, ranks, count);
      if (is_barrier) break;
    }
  }
  if (!is_barrier) {
    for (const CollectiveCase& typed : CasesOfEachType(operation)) {
      all->push_back({typed, Way::kOwn});
    }
    for (const int ranks : kOfEachWay) {
      add(Way::kInPlace, ranks, kCountOfEachType);
      add(Way::kStartedInPlace, ranks, kCountOfEachType);
    }
  }
  for (const int ranks : kOfEachWay) {
    add(Way::kStarted, ranks, kCountOfEachType);
    add(Way::kTwo, ranks, kCountOfEachType);
  }
  for (const int ranks : kOfHalves) add(Way::kSplit, ranks, kCountOfEachType);
}

/// Adds those of the grid that are not among `all`. Only cases without
/// elements are.
void AddGrid(Operation operation, std::vector<OwnCase>* all) {
  std::set<std::string> listed;
  for (const OwnCase& each : *all) {
    if (each.of.what.count == 0) listed.insert(each.test_id());
  }
  for (const OwnCase& each : GridOf(operation)) {
    if (each.of.what.count == 0 && listed.contains(each.test_id())) continue;
    all->push_back(each);
  }
}

}  // namespace

std::vector<size_t> CoverPairs(std::span<const Options> all) {
  std::vector<size_t> first, every;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].back() == 0) first.push_back(i);
    every.push_back(i);
  }
  Pairs pairs;
  std::vector<size_t> chosen;
  Choose(all, std::move(first), &pairs, &chosen);
  Choose(all, std::move(every), &pairs, &chosen);
  return chosen;
}

std::vector<OwnCase> LargestOfGrid(Operation operation) {
  std::map<Options, OwnCase> by_others;  // by all options but the block
  for (Cell& cell : CellsOf(operation)) {
    cell.options[1] = 0;
    OwnCase& most =
        by_others.try_emplace(cell.options, cell.test_case).first->second;
    if (most.of.what.count < cell.test_case.of.what.count) {
      most = cell.test_case;
    }
  }
  std::vector<OwnCase> largest;
  for (const auto& [options, each] : by_others) largest.push_back(each);
  return largest;
}

std::vector<OwnCase> GridOf(Operation operation) {
  std::vector<OwnCase> cases;
  std::vector<size_t> of_ci;
  std::vector<Options> options;
  for (const Cell& cell : CellsOf(operation)) {
    OwnCase& added = cases.emplace_back(cell.test_case);
    added.tier = cases::Tier::kNightly;
    if (cell.options[1] >= kBlocksOfCi ||
        BuffersOf(added) > kMostElementsOfCi) {
      continue;
    }
    of_ci.push_back(cases.size() - 1);
    options.push_back(cell.options);
  }
  for (const size_t each : CoverPairs(options)) {
    cases[of_ci[each]].tier = cases::Tier::kCi;
  }
  return cases;
}

std::vector<OwnCase> AllOwnCases() {
  std::vector<OwnCase> all;
  for (const Operation operation : ranks::kOperations) {
    AddAlone(operation, &all);
    AddGrid(operation, &all);
  }
  return all;
}

std::vector<OwnCase> LargestOwnCases() {
  std::vector<OwnCase> all;
  for (const Operation operation : ranks::kOperations) {
    AddAlone(operation, &all);
    std::ranges::copy(LargestOfGrid(operation), std::back_inserter(all));
  }
  return all;
}

}  // namespace assay::distributed
