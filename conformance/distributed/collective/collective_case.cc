// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/collective/collective_case.h"

#include <set>

#include "framework/core/text.h"

namespace assay::distributed {
namespace {

using ranks::Operation;
using ranks::Reduction;

// None, fewer than ranks, as many, and a prime, which leaves a remainder for
// every number of ranks.
constexpr int64_t kCollectiveCounts[] = {0, 1, 5, 16, 1021};
// Ranks with which every type and reduction is tried.
constexpr int kOfEachType[] = {1, 3, 4, 8};
constexpr int kOfDrawn[] = {2, 3, 4, 7, 8, 9};
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                            DType::kInt64};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProduct,
                                     Reduction::kMin, Reduction::kMax};
constexpr int kOfScale[] = {64, 256, 1024};
constexpr int kMostOfCi = 61;
// Operations with a block for each rank take more memory than they prove beyond
// this.
constexpr int kMostOfBlocks = 256;

}  // namespace

bool Reduces(Operation operation) {
  return operation == Operation::kReduce ||
         operation == Operation::kAllReduce ||
         operation == Operation::kReduceScatter;
}

std::vector<CollectiveCase> CasesOfEachType(Operation operation) {
  std::vector<CollectiveCase> all;
  const auto add = [&](Reduction reduction, DType type, Numbers numbers,
                       std::span<const int> ranks) {
    for (const int count : ranks) {
      all.push_back(
          {{operation, ranks::Algorithm::kLinear, count, kCountOfEachType, 0},
           reduction,
           type,
           numbers});
    }
  };
  for (const DType type : kTypes) {
    for (const Reduction reduction : kReductions) {
      add(reduction, type, Numbers::kWhole, kOfEachType);
      if (!Reduces(operation)) break;
    }
  }
  if (!Reduces(operation)) return all;
  for (const DType type : {DType::kFloat32, DType::kFloat64}) {
    add(Reduction::kSum, type, Numbers::kDrawn, kOfDrawn);
  }
  return all;
}

std::string IdOf(const CollectiveCase& test_case, std::string_view way,
                 int ranks) {
  const ranks::Collective& what = test_case.what;
  std::string id = "distributed/";
  const auto add = [&id](std::string_view front, std::string_view word) {
    id.append(front).append(word);
  };
  add("", ToString(what.operation));
  add("/", way);
  if (what.operation != Operation::kBarrier) {
    add(".", ToString(test_case.type));
    if (Reduces(what.operation)) add(".", ToString(test_case.reduction));
    add(".", std::to_string(what.count));
  }
  add("#n", std::to_string(ranks));
  return test_case.numbers == Numbers::kDrawn ? id + ".drawn" : id;
}

std::string CollectiveCase::test_id() const {
  return IdOf(*this, ToString(what.algorithm), what.ranks);
}

cases::Tier CollectiveCase::tier() const {
  return what.ranks > kMostOfCi ? cases::Tier::kScale : cases::Tier::kCi;
}

std::vector<int> CollectiveCase::roots() const {
  if (!ranks::HasRoot(what.operation)) return {0};
  const std::set<int> roots = {0, what.ranks / 2, what.ranks - 1};
  return {roots.begin(), roots.end()};
}

std::vector<CollectiveCase> AllCollectiveCases() {
  std::vector<CollectiveCase> all;
  for (const Operation operation : ranks::kOperations) {
    for (const ranks::Algorithm algorithm : ranks::AlgorithmsOf(operation)) {
      CollectiveCase each{.what = {operation, algorithm, 1, 0, 0}};
      const auto add = [&](int ranks, int64_t count) {
        each.what.ranks = ranks;
        each.what.count = count;
        all.push_back(each);
      };
      if (operation == Operation::kBarrier) {
        for (const int ranks : kCollectiveRanks) add(ranks, 0);
        for (const int ranks : kOfScale) add(ranks, 0);
        continue;
      }
      const bool has_blocks =
          ranks::ElementsOf({operation, algorithm, 2, 1, 0}) > 1;
      for (const int ranks : kOfScale) {
        if (!has_blocks || ranks <= kMostOfBlocks)
          add(ranks, has_blocks ? 1 : 1031);
      }
      for (const int ranks : kCollectiveRanks) {
        for (const int64_t count : kCollectiveCounts) add(ranks, count);
      }
      for (CollectiveCase typed : CasesOfEachType(operation)) {
        typed.what.algorithm = algorithm;
        all.push_back(typed);
      }
    }
  }
  return all;
}

}  // namespace assay::distributed
