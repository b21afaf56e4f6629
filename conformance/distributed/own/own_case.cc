// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/own/own_case.h"

#include <array>

namespace assay::distributed {
namespace {

using ranks::Operation;
using ranks::Reduction;

constexpr std::array<std::string_view, 6> kNames = {
    "own",     "own_in_place", "own_started", "own_started_in_place",
    "own_two", "own_split"};

// Powers of two, their neighbours, and a prime.
constexpr int kOwnRanks[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 61};
// None, fewer than ranks, a prime, and both sides of 10,000 bytes of float32, where Open
// MPI and others go from one algorithm to another.
constexpr int64_t kCounts[] = {0, 1, 5, 1021, 2499, 2501};
constexpr int kMostOfLong = 8;
constexpr int64_t kLong = 2000;
// Where every type, reduction and way is tried.
constexpr int kOfEachType[] = {1, 3, 4, 8};
constexpr int64_t kCountOfEachType = 61;
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32,
                            DType::kInt64};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProduct,
                                     Reduction::kMin, Reduction::kMax};
constexpr int kOfDrawn[] = {2, 3, 4, 7, 8, 9};
constexpr int kOfHalves[] = {1, 2, 3, 4};

/// The cases of an operation.
class Cases {
 public:
  Cases(Operation operation, std::vector<OwnCase>* all)
      : operation_(operation), all_(*all) {}

  void AddAll() {
    if (operation_ == Operation::kBarrier) {
      for (const int ranks : kOwnRanks) Add(Way::kOwn, ranks, 0);
    } else {
      AddSizes();
      AddTypes();
      for (const int ranks : kOfEachType) {
        Add(Way::kInPlace, ranks, kCountOfEachType);
        Add(Way::kStartedInPlace, ranks, kCountOfEachType);
      }
    }
    const int64_t count =
        operation_ == Operation::kBarrier ? 0 : kCountOfEachType;
    for (const int ranks : kOfEachType) {
      Add(Way::kStarted, ranks, count);
      Add(Way::kTwo, ranks, count);
    }
    for (const int ranks : kOfHalves) Add(Way::kSplit, ranks, count);
  }

 private:
  void Add(Way way, int ranks, int64_t count) {
    OwnCase each{.of = type_and_reduction_, .way = way};
    each.of.what = {operation_, ranks::Algorithm::kLinear, ranks, count, 0};
    all_.push_back(each);
  }

  void AddSizes() {
    for (const int ranks : kOwnRanks) {
      for (const int64_t count : kCounts) {
        if (count < kLong || ranks <= kMostOfLong) Add(Way::kOwn, ranks, count);
      }
    }
  }

  void AddTypes() {
    for (const DType type : kTypes) {
      for (const Reduction reduction : kReductions) {
        type_and_reduction_ = {
            .what = {}, .reduction = reduction, .type = type};
        for (const int ranks : kOfEachType) {
          Add(Way::kOwn, ranks, kCountOfEachType);
        }
        if (!Reduces(operation_)) break;
      }
    }
    for (const DType type : {DType::kFloat32, DType::kFloat64}) {
      if (!Reduces(operation_)) break;
      type_and_reduction_ = {
          .what = {}, .type = type, .numbers = Numbers::kDrawn};
      for (const int ranks : kOfDrawn) Add(Way::kOwn, ranks, kCountOfEachType);
    }
    type_and_reduction_ = {};
  }

  const Operation operation_;
  CollectiveCase type_and_reduction_;
  std::vector<OwnCase>& all_;
};

}  // namespace

std::string_view ToString(Way way) { return kNames[static_cast<size_t>(way)]; }

int OwnCase::ranks() const {
  return way == Way::kSplit ? 2 * of.what.ranks : of.what.ranks;
}

int OwnCase::sets() const {
  return way == Way::kSplit || way == Way::kTwo ? 2 : 1;
}

std::string OwnCase::test_id() const {
  return IdOf(of, ToString(way), ranks());
}

std::vector<OwnCase> AllOwnCases() {
  std::vector<OwnCase> all;
  for (const Operation operation : Operations()) {
    Cases(operation, &all).AddAll();
  }
  return all;
}

}  // namespace assay::distributed
