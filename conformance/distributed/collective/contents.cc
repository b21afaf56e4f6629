// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/collective/contents.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/ranks/together.h"

namespace assay::distributed {
namespace {

using ranks::Operation;
using ranks::Reduction;

/// Calls visit.template operator()<T>() with the type of the elements.
Status OfType(DType type, auto&& visit) {
  switch (type) {
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      return visit.template operator()<double>();
    case DType::kInt32:
      return visit.template operator()<int32_t>();
    case DType::kInt64:
      return visit.template operator()<int64_t>();
    default:
      return Unsupported(Reason::kDType, "found elements of ", type,
                         ", wanted float32, float64, int32 or int64");
  }
}

// A prime: the numbers of any two ranks below it differ at every index.
constexpr int64_t kDifferent = 1031;

/// A number >= 1. For a product it is a power of two, so that nothing rounds.
int64_t WholeNumber(Reduction reduction, int64_t rank, int64_t i) {
  if (reduction == Reduction::kProduct) return (rank + i) % 3 == 0 ? 2 : 1;
  return (rank * 37 + i * 11) % kDifferent + 1;
}

/// Integers wrap around; floats are combined only where nothing rounds.
template <class T>
T Combined(Reduction reduction, T a, T b) {
  if (reduction == Reduction::kMin) return std::min(a, b);
  if (reduction == Reduction::kMax) return std::max(a, b);
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    const auto x = static_cast<Bits>(a), y = static_cast<Bits>(b);
    return static_cast<T>(reduction == Reduction::kSum ? x + y : x * y);
  } else {
    return reduction == Reduction::kSum ? a + b : a * b;
  }
}

/// The reduction over all ranks, element by element.
template <class T>
std::vector<T> Together(Reduction reduction, const std::vector<Tensor>& all) {
  const auto first = all[0].elements<T>();
  std::vector<T> result(first.begin(), first.end());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const auto next = all[rank].elements<T>();
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = Combined(reduction, result[i], next[i]);
    }
  }
  return result;
}

/// A block of elements goes from `begin` in a sender's buffer to `at` in a
/// receiver's.
struct Move {
  int64_t begin, at;
};

/// The blocks that rank `to` gets of rank `from`.
std::vector<Move> MovesOf(const ranks::Collective& what, int from, int to) {
  const int64_t block = what.count;
  switch (what.operation) {
    case Operation::kBroadcast:
      if (from == what.root) return {{0, 0}};
      break;
    case Operation::kScatter:
      if (from == what.root) return {{to * block, to * block}};
      break;
    case Operation::kGather:
      if (to == what.root) return {{from * block, from * block}};
      break;
    case Operation::kAllGather:
      return {{from * block, from * block}};
    case Operation::kAllToAll:
      return {{to * block, (what.ranks + from) * block}};
    default:
      break;
  }
  return {};
}

/// The part of the combined buffers that a rank gets.
ranks::Part CombinedPart(const ranks::Collective& what, int rank) {
  switch (what.operation) {
    case Operation::kAllReduce:
      return {0, what.count};
    case Operation::kReduce:
      return {0, rank == what.root ? what.count : 0};
    case Operation::kReduceScatter:
      return {rank * what.count, what.count};
    default:
      return {};
  }
}

template <class T>
void PutWanted(const CollectiveCase& test_case, const ranks::Collective& what,
               const std::vector<Tensor>& before, std::vector<Wanted>* wanted) {
  const std::vector<T> together = Reduces(what.operation)
                                      ? Together<T>(test_case.reduction, before)
                                      : std::vector<T>();
  for (int rank = 0; rank < what.ranks; ++rank) {
    Wanted& mine = (*wanted)[static_cast<size_t>(rank)];
    const auto elements = mine.buffer.mutable_elements<T>();
    if (const ranks::Part part = CombinedPart(what, rank); part.count > 0) {
      std::copy_n(together.begin() + part.begin, part.count,
                  elements.begin() + part.begin);
      mine.judged.push_back(part);
    }
    for (int from = 0; from < what.ranks; ++from) {
      const auto theirs = before[static_cast<size_t>(from)].elements<T>();
      for (const Move& move : MovesOf(what, from, rank)) {
        std::copy_n(theirs.begin() + move.begin, what.count,
                    elements.begin() + move.at);
        mine.judged.push_back({move.at, what.count});
      }
    }
  }
}

}  // namespace

Result<std::vector<Tensor>> ContentsOf(const CollectiveCase& test_case,
                                       int64_t seed, int first_rank) {
  std::vector<Tensor> contents;
  for (int rank = first_rank; rank < first_rank + test_case.what.ranks;
       ++rank) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor buffer,
        Tensor::Allocate(test_case.type, {ranks::ElementsOf(test_case.what)}));
    core::Numbers drawn(core::KeyOf(static_cast<uint64_t>(seed), rank));
    ASSAY_RETURN_IF_ERROR(OfType(test_case.type, [&]<class T>() {
      const auto elements = buffer.mutable_elements<T>();
      for (size_t i = 0; i < elements.size(); ++i) {
        elements[i] = static_cast<T>(
            test_case.numbers == Numbers::kDrawn
                ? drawn.Share() - 0.5
                : static_cast<double>(WholeNumber(test_case.reduction, rank,
                                                  static_cast<int64_t>(i))));
      }
      return OkStatus();
    }));
    contents.push_back(std::move(buffer));
  }
  return contents;
}

Result<std::vector<Wanted>> WantedOf(const CollectiveCase& test_case, int root,
                                     const std::vector<Tensor>& before) {
  ranks::Collective what = test_case.what;
  what.root = root;
  std::vector<Wanted> wanted;
  for (const Tensor& buffer : before) {
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, buffer.Clone());
    wanted.push_back({std::move(copy), {}});
  }
  ASSAY_RETURN_IF_ERROR(OfType(test_case.type, [&]<class T>() {
    PutWanted<T>(test_case, what, before, &wanted);
    return OkStatus();
  }));
  if (test_case.numbers == Numbers::kWhole) return wanted;
  std::vector<ranks::Schedule> schedules;
  std::vector<Tensor> buffers;
  for (int rank = 0; rank < what.ranks; ++rank) {
    ASSAY_ASSIGN_OR_RETURN(ranks::Schedule mine, ranks::ScheduleOf(what, rank));
    schedules.push_back(std::move(mine));
    ASSAY_ASSIGN_OR_RETURN(Tensor buffer,
                           before[static_cast<size_t>(rank)].Clone());
    buffers.push_back(std::move(buffer));
  }
  ASSAY_RETURN_IF_ERROR(
      ranks::RunTogether(schedules, buffers, {.reduction = test_case.reduction})
          .status());
  for (size_t rank = 0; rank < wanted.size(); ++rank) {
    wanted[rank].buffer = buffers[rank];
  }
  return wanted;
}

}  // namespace assay::distributed
